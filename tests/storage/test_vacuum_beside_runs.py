"""Vacuum while a run is at work: what the run is about to commit stays, though it has lain about since long ago."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muntin.jobs.upkeep.vacuum import vacuum
from muntin.store.delta import DeltaStore
from muntin.store.disk import link, write_whole
from muntin.store.store import Change, Snapshot
from tests.made_once import made_once
from tests.storage.crashing import Crashing
from tests.storage.test_crash_points import same
from tests.storage.three_batches import FIRST, OTHER, Small, at_once

AGES = timedelta(days=3)


class Swept(Crashing):
    """Before the first commit to the table of states, vacuum removes what is older than `oldest`."""

    def __init__(self, store: DeltaStore, root: Path, oldest: datetime) -> None:
        super().__init__(store)
        self.swept, self.oldest = root, oldest

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        if table == "frames/20m" and f"commit {table}" not in self.said:
            vacuum(self.swept, older_than_us=0, now=self.oldest)
        super().commit(table, base, change)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made_once(tmp_path, at_once)
    return Small(tmp_path)


def aged(folder: Path) -> None:
    """All files were written three days ago."""
    then = (datetime.now(UTC) - AGES).timestamp()
    for path in folder.rglob("*.parquet"):
        os.utime(path, (then, then))


# a commit took the file out of the table; the source says the same again, and the run takes the file that is there
def test_a_replaced_file_that_comes_again_stays(small: Small) -> None:
    before = small.tables("state")
    small.write(1, OTHER)
    small.run("state", 1, 1)
    aged(small.folder / "state")
    small.write(1, FIRST[1])
    small.run("state", 1, 1, store=Swept(small.store("state"), small.folder / "state", datetime.now(UTC) - AGES / 2))
    assert same(small.tables("state"), before)


# promotion gives a file of a state its second name in the table that readers know, and commits it later
def test_a_linked_file_is_young(tmp_path: Path) -> None:
    source, target, begun = tmp_path / "a/file", tmp_path / "b/file", datetime.now(UTC).timestamp()
    write_whole(source, b"states")
    for _ in ("new", "left by a run that crashed"):
        os.utime(source, (0, 0))
        link(source, target)
        assert target.read_bytes() == b"states"
        assert target.stat().st_mtime >= begun - 1
