"""What reaches a sink whose position the state notes: each change at least once, whatever fails; a slow sink is waited for."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, read, sinks
from muntin.jobs.sending.notes import Note, read_note, write_note
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from tests.made_once import made_once
from tests.storage.test_changes_since import Changing
from tests.storage.three_batches import Small


@contextmanager
def session() -> Iterator[Any]:
    """As much of a Spark session as a sink uses: a DataFrame is a table of Arrow."""
    yield SimpleNamespace(createDataFrame=lambda rows: rows)


REACH = Reach(of_environment, session)


@dataclass
class Lake:
    """What a function was given; `down`: it fails."""

    got: list[tuple[int, list[tuple[Any, ...]]]] = field(default_factory=list)
    down: bool = False
    slow_s: float = 0

    def write(self, changes: pa.Table, version: int) -> None:
        sleep(self.slow_s)
        if self.down:
            raise ConnectionError("https://muntin:geheim@lake")
        rows = changes.select(["k", "n", "revision", "change"]).to_pylist()
        self.got.append((version, [tuple(row.values()) for row in rows]))


@dataclass(frozen=True)
class Sending(Changing):
    """As `Changing`; the windows `hours` go to a lake, when somebody sends them."""

    lake: Lake = field(default_factory=Lake)
    patience: str = "1m"

    @property
    def to_lake(self) -> Pipeline:
        return replace(self.pipeline, to=sinks.spark(self.lake.write, window="hours", patience=self.patience))

    def sent(self, **more: Any) -> str:
        (one,) = send(bind(self.to_lake, self.folder / "state"), REACH, **more)
        return one.line


@pytest.fixture
def small(tmp_path: Path) -> Sending:
    made_once(tmp_path, _two)
    return Sending(tmp_path)


def _two(folder: Path) -> None:
    small = Sending(folder)
    small.write_all()
    small.ran(0, 1)


FIRST = (1, [("a", 2, 1, "new"), ("a", 4, 1, "new"), ("ü", 1, 1, "new"), ("ü", 2, 1, "new")])
SECOND = (2, [("a", 3, 2, "new"), ("ü", 3, 2, "new")])


def test_changes_go_once_while_nothing_fails(small: Sending) -> None:
    assert small.sent() == "4 changes of hours sent to function write; it is at version 1"
    small.ran(2)
    for _ in range(3):
        small.sent()
    assert small.lake.got == [FIRST, SECOND]


def test_a_function_that_fails_gets_all_that_it_lacks_later(small: Sending) -> None:
    small.sent()
    small.lake.down = True
    small.ran(2)
    assert small.sent() == "hours not sent to function write (write raised ConnectionError); the next run catches up"
    small.lake.down = False
    small.sent()
    assert small.lake.got == [FIRST, SECOND]


def test_a_run_that_ends_before_its_note_sends_again(small: Sending, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("muntin.jobs.sending.catch_up.note_position", lambda *_: (_ for _ in ()).throw(MemoryError))
        small.sent()
    small.sent()
    assert small.lake.got == [FIRST, FIRST]


def test_a_function_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    small = Sending(tmp_path, patience="50ms", lake=Lake(slow_s=0.5))
    small.write_all()
    small.ran(0)
    assert small.sent() == "hours not sent to function write (no answer within 0.05 s); the next run catches up"


def test_notes_never_go_back_and_outlive_a_vacuum(small: Sending) -> None:
    small.sent()
    bound = bind(small.to_lake, small.folder / "state")
    vacuum(small.folder / "state", older_than_us=0)
    (sink,) = bound.sinks
    position = read_note(bound, sink).position
    assert position.version == 1
    write_note(bound, sink, Note(replace(position, version=0)))
    assert read_note(bound, sink).position.version == 1
    assert small.since("hours", -1).num_rows == 4


def test_a_state_that_is_put_back_behind_its_note_sends_all_once(small: Sending) -> None:
    shutil.copytree(small.folder / "state", small.folder / "kept")
    small.ran(2)
    small.sent()
    (note,) = small.table("hours").glob("_sinks/*.json")
    text = note.read_text()
    shutil.rmtree(small.folder / "state")
    (small.folder / "kept").rename(small.folder / "state")
    note.parent.mkdir()
    note.write_text(text)
    assert "was put back to an earlier state; it is at version 1" in small.sent()
    small.sent()
    assert [version for version, _ in small.lake.got] == [2, 1]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"position": {"table": 1}}'])
def test_a_note_that_is_damaged_sends_all(small: Sending, text: str) -> None:
    small.sent()
    (note,) = small.table("hours").glob("_sinks/*.json")
    note.write_text(text)
    small.sent()
    assert small.lake.got == [FIRST, FIRST]


def test_there_may_be_no_spark(small: Sending) -> None:
    (one,) = send(bind(small.to_lake, small.folder / "state"))
    assert one.failed == "there is no Spark here; muntin status --sinks FILE --send starts one"


def test_a_dataframe_of_spark(small: Sending, spark: Any) -> None:
    got = []

    def keep(changes: Any, version: int) -> None:
        got.append((version, [(row.k, row.n, row.revision, row.change) for row in changes.sort("k", "window_start").collect()]))

    @contextmanager
    def given() -> Iterator[Any]:
        yield spark

    pipeline = replace(small.pipeline, to=sinks.spark(keep, window="hours"))
    (one,) = send(bind(pipeline, small.folder / "state"), Reach(of_environment, given))
    assert one.failed == ""
    assert got == [FIRST]


def test_on_a_disk_and_in_an_object_store(tmp_path: Path, roots: str) -> None:
    small, lake = Small(tmp_path, roots=roots), Lake()
    small.write_all()
    pipeline = replace(small.pipeline, to=sinks.spark(lake.write, window="hours"))
    small.run("state", 0, 0)
    for at in (1, 2, 2):
        small.run("state", at, at)
        send(bind(pipeline, small.root("state")), REACH)
    assert lake.got == [FIRST, SECOND]
    assert read(pipeline, "hours", root=small.root("state"), changes_since=1)["revision"].to_pylist() == [2, 2]
