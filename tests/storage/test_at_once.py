"""Several runs at once, of one batch and of neighbours: one wins, the others see it and are done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from muntin.jobs.inspect.late import quarantined
from muntin.store.delta import DeltaStore
from muntin.store.store import Change, Snapshot
from tests.case_counts import paired
from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crashing
from tests.storage.three_batches import OTHER, Small, facts


@pytest.fixture
def small(tmp_path: Path, roots: str) -> Small:
    made = Small(tmp_path, roots=roots)
    made.write_all()
    return made


def together(*work: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(work)) as threads:
        return [future.result() for future in [threads.submit(one) for one in work]]


def same(small: Small, ours: str, theirs: str) -> bool:
    found = small.tables(ours)
    return all(bitwise(table, found[name]) for name, table in small.tables(theirs).items())


class Meeting(Crashing):
    """Both runs have their snapshots before either commits its states."""

    def __init__(self, store: DeltaStore, barrier: Barrier, table: str) -> None:
        super().__init__(store)
        self.barrier, self.table = barrier, table

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        if table == self.table and not any(verb == f"commit {table}" for verb in self.said):
            self.barrier.wait(timeout=60)
        super().commit(table, base, change)


def test_one_batch_twice_at_once(small: Small) -> None:
    clean = facts(small.run("clean"))
    reports = together(lambda: small.run("state"), lambda: small.run("state"))
    assert [facts(report) for report in reports] == [clean, clean]
    assert same(small, "state", "clean")


@pytest.mark.parametrize(("table", "before"), paired(["frames/20m", "../windows/visits"], [False, True]))
def test_both_commit_from_one_snapshot(small: Small, table: str, *, before: bool) -> None:
    if before:
        small.run("state", 0, 1)
        small.write(1, OTHER)
    small.run("clean")
    barrier = Barrier(2)
    stores = [Meeting(small.store("state"), barrier, table) for _ in range(2)]
    together(*(lambda store=store: small.run("state", store=store) for store in stores))
    assert same(small, "state", "clean")
    assert sum(verb == f"commit {table}" for store in stores for verb in store.said) >= 2


def test_neighbours_at_once(small: Small) -> None:
    small.run("clean")
    together(*(lambda at=at: small.run("state", at, at) for at in range(3)))
    assert same(small, "state", "clean")


# batch 0 is empty, so the table learns its columns from batch 1, which two runs read differently
def test_a_table_grows_under_two_runs(small: Small) -> None:
    small.write(0, [])
    small.run("state", 0, 0)
    barrier = Barrier(2)
    first, second = (Meeting(small.store("state"), barrier, "frames/20m") for _ in range(2))
    together(lambda: small.run("state", 1, 1, store=first), lambda: small.run("state", 1, 2, store=second))
    small.run("clean")
    assert same(small, "state", "clean")


class Halting(Crashing):
    """Says that it is about to commit to a table for the first time, and waits for a word."""

    def __init__(self, store: DeltaStore, words: dict[str, tuple[Event, Event]]) -> None:
        super().__init__(store)
        self.words = words

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        if table in self.words:
            here, go_on = self.words.pop(table)
            here.set()
            assert go_on.wait(timeout=60), f"nobody came before {table}"
        super().commit(table, base, change)


def refused(small: Small, root: str) -> list[tuple[object, ...]]:
    rows = quarantined(small.pipeline, root=small.root(root)).select(["batch", "position", "reason", "row"])
    return [tuple(row.values()) for row in rows.to_pylist()]


# first     reads    commits refused rows           commits states
# second             reads, commits refused rows    commits states, or comes second
@pytest.mark.parametrize(
    "other", [(None, 75, 62), (70, None, 61, 30, None), (70, 61, 30)], ids=["other states", "more refused", "none refused"]
)
def test_refused_rows_are_of_one_reading(small: Small, other: tuple[float | None, ...]) -> None:
    small.run("state", 0, 0)
    small.write(1, (70, None, 61, 30))
    read, both, never = Event(), Event(), Event()
    never.set()
    ours = Halting(small.store("state"), {"quarantine": (read, both)})
    theirs = Halting(small.store("state"), {"quarantine": (both, read), "frames/20m": (both, never)})
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(lambda: small.run("state", 1, 1, store=ours))
        assert read.wait(timeout=60)
        small.write(1, other)
        threads.submit(lambda: small.run("state", 1, 1, store=theirs)).result()
        first.result()
    small.run("clean", 0, 1)
    assert same(small, "state", "clean")
    assert refused(small, "state") == refused(small, "clean")


# first     reads                       commits refused rows             commits states
# second           reads, none refused                         commits states, looks at the quarantine
def test_who_refused_nothing_sees_what_another_run_refused(small: Small) -> None:
    small.run("state", 0, 0)
    small.write(1, (70, 61, 30, None))
    read, second, first = Event(), Event(), Event()
    ours = Halting(small.store("state"), {"quarantine": (read, second), "frames/20m": (first, first)})
    theirs = Halting(small.store("state"), {"frames/20m": (second, first)})
    with ThreadPoolExecutor(2) as threads:
        done = threads.submit(lambda: small.run("state", 1, 1, store=ours))
        assert read.wait(timeout=60)
        small.write(1, (70, 61, 30))
        threads.submit(lambda: small.run("state", 1, 1, store=theirs)).result()
        done.result()
    small.run("clean", 0, 1)
    assert same(small, "state", "clean")
    assert refused(small, "state") == refused(small, "clean")
