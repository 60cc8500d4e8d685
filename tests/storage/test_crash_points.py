"""Wherever a run stops, readers see what was published before or after, and the next run equals a clean one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin.files.paths import path_of, relative, remove_folder, sizes_below
from muntin.store import parquet
from tests.case_counts import some
from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crash, Crashing
from tests.storage.three_batches import OTHER, Small, facts

READING = ("snapshot",)


SHARE = 8
"""Of the points that are tried on a disk, one of so many is tried on an object store: each verb takes longer there."""


@pytest.fixture
def small(tmp_path: Path, roots: str) -> Small:
    made = Small(tmp_path, roots=roots)
    made.write_all()
    return made


@pytest.fixture
def on_disk(tmp_path: Path) -> Small:
    made = Small(tmp_path)
    made.write_all()
    return made


def same(ours: dict[str, pa.Table], theirs: dict[str, pa.Table]) -> bool:
    return all(bitwise(ours[name], theirs[name]) for name in theirs)


def points(small: Small, before: str, first: int = 0, last: int = 2) -> Iterator[Crashing]:
    """A store for each crash point of a run over a copy of the state `before`; each has its own copy, `crashed`.

    A verb that only reads leaves nothing behind: to stop after it is to stop before the next.
    """
    verbs = Crashing(small.store(copied(small, before)))
    small.run("crashed", first, last, store=verbs)
    assert {verb.split()[0] for verb in verbs.said} >= {"snapshot", "commit", "promote", "discard"}
    stops = [(at, after) for at, verb in enumerate(verbs.said) for after in (False, True)[: 1 if verb.startswith(READING) else 2]]
    for at, after in some(stops)[:: 1 if isinstance(small.root("crashed"), Path) else SHARE]:
        yield Crashing(small.store(copied(small, before)), at, after=after)


def copied(small: Small, before: str) -> str:
    old, new = small.root(before), small.root("crashed")
    remove_folder(new)
    for path, *_ in sizes_below(old):
        copy = path_of(new, relative(path, old))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return "crashed"


def test_a_first_run_may_stop_anywhere(small: Small) -> None:
    clean, new = facts(small.run("clean")), small.tables("clean")
    for store in points(small, "nothing"):
        with pytest.raises(Crash):
            small.run("crashed", store=store)
        where, seen = (store.said[-1], store.after), small.tables("crashed")
        assert all(not len(seen[name]) or bitwise(seen[name], new[name]) for name in new), where
        assert facts(small.run("crashed")) == clean, where
        assert same(small.tables("crashed"), new), where


def test_a_replaced_batch_may_stop_anywhere(small: Small) -> None:
    small.run("old")
    old = small.tables("old")
    small.write(1, OTHER)
    clean, new = facts(small.run("clean")), small.tables("clean")
    assert not any(bitwise(old[name], new[name]) for name in new)
    for store in points(small, "old", 1, 1):
        with pytest.raises(Crash):
            small.run("crashed", 1, 1, store=store)
        where, seen = (store.said[-1], store.after), small.tables("crashed")
        assert all(bitwise(seen[name], old[name]) or bitwise(seen[name], new[name]) for name in new), where
        assert facts(small.run("crashed", 1, 1)) == clean[1:2], where
        assert same(small.tables("crashed"), new), where


def test_the_next_batch_publishes_what_a_crash_left_unpublished(small: Small) -> None:
    small.run("clean")
    verbs = Crashing(small.store("tried"))
    small.run("tried", 0, 1, store=verbs)
    with pytest.raises(Crash):
        small.run("later", 0, 1, store=Crashing(small.store("later"), verbs.said.index("commit reports")))
    assert not any(map(len, small.tables("later").values()))
    small.run("later", 2, 2)
    assert same(small.tables("later"), small.tables("clean"))


class Writes:
    """Stands for `write_whole`; the one with number `at` leaves half a file, or a whole one that nobody hears of."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.at, self.after, self.count, self.write = at, after, 0, parquet.write_whole

    def __call__(self, target: Path, content: memoryview) -> None:
        here, self.count = self.count == self.at, self.count + 1
        if here and not self.after:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(f".{target.name}.0.partial").write_bytes(content[:10])
            raise Crash(str(target))
        self.write(target, content)
        if here:
            raise Crash(str(target))


@pytest.mark.parametrize("after", [False, True])
def test_a_task_may_die_at_any_file(on_disk: Small, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    on_disk.run("old")
    on_disk.write(1, OTHER)
    on_disk.run("clean")
    every: Any = Writes(-1, after=after)
    copied(on_disk, "old")
    with monkeypatch.context() as patched:
        patched.setattr(parquet, "write_whole", every)
        on_disk.run("crashed")
    assert every.count >= 5, "there were files to die at"
    for at in some(range(every.count)):
        copied(on_disk, "old")
        with monkeypatch.context() as patched:
            patched.setattr(parquet, "write_whole", Writes(at, after=after))
            with pytest.raises(Crash):
                on_disk.run("crashed")
        on_disk.run("crashed")
        assert same(on_disk.tables("crashed"), on_disk.tables("clean")), at


@pytest.mark.parametrize(("verb", "after"), [("commit frames/20m", True), ("promote ../windows/visits", True)])
def test_so_it_is_on_spark(on_disk: Small, spark: Any, verb: str, *, after: bool) -> None:
    on_spark = replace(on_disk, spark=spark)
    on_disk.run("clean")
    verbs = Crashing(on_disk.store("tried"))
    on_disk.run("tried", store=verbs)
    store = Crashing(on_disk.store("crashed"), verbs.said.index(verb), after=after)
    with pytest.raises(Crash):
        on_spark.run("crashed", store=store)
    on_spark.run("crashed")
    assert same(on_disk.tables("crashed"), on_disk.tables("clean"))
