"""What is published is announced by one run, once; runs of any number at once, in any order, that end where they like.

batches     0 1 2 3 | 4 5 6 7        of an hour; a DAG waits for the keys of four of them, as Airflow's `WaitForAll` does
keys        0 1 2 3 -> it runs, and Airflow forgets the keys
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muntin import windows
from muntin.definition.instants import instant_us
from muntin.extensions.airflow import by_batch, by_window
from muntin.extensions.airflow.assets import events
from muntin.extensions.airflow.assets.announcements import NOTE, Announcer, begin
from muntin.extensions.airflow.assets.events import CALLED_BACK_US, acknowledge, announced, announcer_of
from muntin.jobs.published.ledger_segments import _LEDGERS, read_segment
from muntin.jobs.state.bound import bind
from tests.case_counts import at_length, cases
from tests.end_to_end.hourly import Hourly, hour, times

WHOLE = by_window(whole="4h")
Told = dict[str, Any]


@dataclass
class World:
    """A pipeline of hours, the runs that are going, and a DAG that waits for four keys at a time."""

    hourly: Hourly
    going: set[str] = field(default_factory=set)
    rows: dict[int, int] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    ran: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    @property
    def place(self) -> Any:
        return SimpleNamespace(bound=bind(self.hourly.pipeline, self.hourly.root, claim=True))

    def publish(self, at: int) -> None:
        """Publish a batch, with a row more than the last time."""
        begin(self.place.bound)
        self.rows[at] = self.rows.get(at, 0) + 1
        self.hourly.write(f"{at:02d}.parquet", {"at": times(*(60 * at + 1 + minute for minute in range(self.rows[at])))})
        self.hourly.run(at, at)

    def tell(self, at: int, run: str | None = None, keys: Any = WHOLE) -> Told:
        if run:
            self.going.add(run)
        announcer = Announcer(run, lambda other, _: other in self.going)
        return announced(self.place, {"hour": [instant_us(hour(at), "at")]}, keys, announcer)

    def emit(self, told: Told) -> None:
        """Airflow has the keys."""
        self.waiting |= {*keys(told)}
        for first in (0, 4):
            four = {*range(first, first + 4)}
            if four <= self.waiting:
                self.waiting -= four
                self.ran.append((first, tuple(self.rows[at] for at in sorted(four))))

    def end(self, told: Told, run: str | None = None) -> None:
        acknowledge(self.place, {"announced": told})
        self.going.discard(run or "")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Hourly(tmp_path))


def keys(told: Told) -> list[int]:
    return [int(key[11:13]) for key in told.get("hour", {}).get("keys", ())]


def test_the_first_of_two_runs_ends_last(world: World) -> None:
    world.publish(0)
    first = world.tell(0)
    for at in (1, 2, 3):
        world.publish(at)
    second = world.tell(3)
    for told in (second, first):
        world.end(told)
    world.publish(3)
    assert keys(world.tell(3)) == [0, 1, 2, 3]


def test_a_batch_that_is_corrected_before_its_run_has_ended_comes_whole(world: World) -> None:
    for at in range(4):
        world.publish(at)
    first = world.tell(3, "first")
    world.publish(2)
    second = world.tell(2, "second")
    assert (keys(first), keys(second)) == ([0, 1, 2, 3], [0, 1, 2, 3])


@pytest.mark.parametrize("named", [True, False])
def test_what_a_run_left_open_that_has_ended_is_announced_by_the_next(world: World, named: bool) -> None:
    for at in (0, 1):
        world.publish(at)
        lost = world.tell(at, "lost" if named else None)
        if at == 0:
            world.end(lost)
    world.publish(2)
    assert keys(world.tell(2, "while it is going" if named else None)) == ([2] if named else [1, 2])
    world.going.clear()
    assert keys(world.tell(2, "later")) == [1, 2]


def test_eight_runs_at_once_announce_each_batch_once(world: World) -> None:
    """They publish in order, and any of them may be the first to announce; eight publications become one segment of the ledger."""
    emitted = []
    for at in range(8):
        world.publish(at)
        told = world.tell(at, f"run {at}") if at % 3 == 2 or at == 7 else {}
        emitted.append((told, f"run {at}"))
    emitted += [(world.tell(at, f"run {at}"), f"run {at}") for at in range(8) if not emitted[at][0]]
    for told, run in reversed(emitted):
        world.emit(told)
        world.end(told, run)
    assert sorted(at for told, _ in emitted for at in keys(told)) == list(range(8))
    assert sorted(world.ran) == [(0, (1,) * 4), (4, (1,) * 4)]


def test_segments_that_become_one_announce_nothing_twice(world: World) -> None:
    """Two publications at a time, so that the ledger is asked; the eighth puts all segments together."""
    told = []
    for at in range(0, 10, 2):
        world.publish(at)
        world.publish(at + 1)
        told.append(world.tell(at + 1))
        world.end(told[-1])
    assert [keys(each) for each in told] == [[at, at + 1] for at in range(0, 10, 2)]


def test_where_replaced_segments_are_gone_all_is_announced_as_a_correction(world: World) -> None:
    for at in range(7):
        world.publish(at)
        world.end(world.tell(at))
    old = list(world.hourly.root.rglob("ledger_*.parquet"))
    for at in (7, 8):
        world.publish(at)
    for path in old:
        path.unlink()
    for cached in (_LEDGERS, read_segment):
        cached.cache_clear()
    assert keys(world.tell(8)) == list(range(9))


def test_keys_that_are_left_are_lost_by_no_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST", 2)
    for at in range(4):
        world.publish(at)
    first = world.tell(3, "first", by_batch())
    for at in (4, 5, 6):
        world.publish(at)
    second = world.tell(6, "second", by_batch())
    world.end(second, "second")
    world.end(first, "first")
    third = world.tell(6, "third", by_batch())
    world.going.discard("third")  # it ends without a word
    assert [keys(each) for each in (first, second, third)] == [[2, 3], [5, 6], [1, 4]]
    assert [keys(world.tell(6, run, by_batch())) for run in ("fourth", "fifth")] == [[1, 4], [0]]


def test_windows_with_few_keys_leave_the_rest_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST", 5)
    world = World(Hourly(tmp_path, other={"windows": {"hour": windows.tumbling("1h"), "long": windows.tumbling("3h")}}))
    for at in range(4):
        world.publish(at)
    told = world.tell(3, keys=by_window())
    assert [len(told[window]["keys"]) for window in ("hour", "long")] == [4, 1]


def test_a_run_asks_airflow_about_others() -> None:
    asked: list[Any] = []

    class Ti:
        def get_dr_count(self, *, dag_id: str, run_ids: list[str], states: list[str]) -> int:
            asked.append((dag_id, run_ids, states))
            return 1

    context = {"dag_run": SimpleNamespace(run_id="mine", dag_id="shop"), "ti": Ti()}
    announcer = announcer_of(context)
    assert announcer.run == "mine"
    assert announcer.is_going("other", 0)
    assert announcer.is_going("other", CALLED_BACK_US)
    assert asked == [("shop", ["other"], ["queued", "running", "success"]), ("shop", ["other"], ["queued", "running"])]


@pytest.mark.parametrize(
    "text", ["[]", '{"hour": {"table": "x", "number": 1, "open": {"a": {}}}}', '{"hour": {"table": "x", "number": 0}}']
)
def test_a_damaged_note_and_the_note_of_an_older_version_stop_nothing(world: World, text: str) -> None:
    world.publish(0)
    Path(world.place.bound.folder, NOTE).write_text(text)
    world.publish(1)
    assert 1 in keys(world.tell(1))


def story(world: World, seed: int, *, corrected: bool, killed: bool) -> None:
    """Batches in order, some again; each by a run that announces, emits and ends in its own time, or is killed in between."""
    chance, runs, at, number = random.Random(seed), dict[str, Told | None](), 0, 0
    emitted: set[str] = set()

    def step(run: str) -> None:
        told = runs[run]
        if killed and chance.random() < 0.15:
            world.going.discard(run)
            del runs[run]
        elif told is None:
            runs[run] = world.tell(0, run)
        elif run not in emitted:
            emitted.add(run)
            world.emit(told)
        else:
            world.end(told, run)
            del runs[run]

    while at < 8 or runs:
        if at < 8 and len(runs) < 8 and chance.random() < 0.5:
            if corrected and at and chance.random() < 0.4:
                world.publish(chance.randrange(at))
            else:
                world.publish(at)
                at += 1
            number += 1
            runs[f"{number}"] = None
            world.going.add(f"{number}")
        elif runs:
            step(chance.choice([*runs]))
    last = world.tell(7, "last")
    world.emit(last)
    world.end(last, "last")


@at_length
@pytest.mark.parametrize("seed", range(cases(600)))
@pytest.mark.parametrize(("corrected", "killed"), [(False, False), (True, False), (False, True), (True, True)])
def test_who_waits_for_whole_spans_runs_after_the_last_publication_and_else_once(
    world: World, seed: int, corrected: bool, killed: bool
) -> None:
    story(world, seed, corrected=corrected, killed=killed)
    for first in (0, 4):
        ran = [rows for start, rows in world.ran if start == first]
        assert ran[-1] == tuple(world.rows[each] for each in range(first, first + 4)), world.ran
        assert corrected or killed or len(ran) == 1, world.ran


def test_a_story_of_each_sort(tmp_path: Path) -> None:
    for seed, (corrected, killed) in enumerate([(False, False), (True, True)]):
        world = World(Hourly(tmp_path / f"{seed}"))
        story(world, seed, corrected=corrected, killed=killed)
        assert {start for start, _ in world.ran} == {0, 4}
