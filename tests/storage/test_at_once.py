"""Several runs at once, of one batch and of neighbours: one wins, the others see it and are done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from pipelines.store.delta import DeltaStore
from pipelines.store.store import Change, Snapshot
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


@pytest.mark.parametrize("table", ["frames/20m", "../windows/visits"])
@pytest.mark.parametrize("before", [False, True])
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
