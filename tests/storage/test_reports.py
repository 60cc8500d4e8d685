"""The table of reports: few files, however many runs there were; read by batches; nothing is lost when runs meet."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.jobs.records import report_files
from muntin.jobs.records.report_files import MANY, telling_of
from muntin.jobs.records.reports import Accumulated, Counts, ReadFile
from muntin.jobs.records.reports_table import TABLE, last_accumulated, record_accumulated
from muntin.store.delta import DeltaStore

HOUR_US = 3_600_000_000
FIRST_US = 1_704_067_200_000_000  # 2024-01-01
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def interval(at: int) -> Interval:
    return Interval(FIRST_US + at * HOUR_US, FIRST_US + (at + 1) * HOUR_US)


def record(store: DeltaStore, at: int, version: str = "v", seconds: int = 0) -> dict[int, bool]:
    """Batch `at` was read, so many seconds after all that was before."""
    done = Accumulated(interval(at), version, Counts(2, 2), None, (ReadFile(f"/{at}", 1, 2),))
    return record_accumulated(store, [done], NOW + timedelta(seconds=1000 * seconds + at))


@pytest.fixture
def store(tmp_path: Path) -> DeltaStore:
    return DeltaStore(tmp_path)


def test_many_runs_leave_few_files_and_every_report(store: DeltaStore) -> None:
    for at in range(3 * MANY):
        record(store, at)
    assert len(store.snapshot(TABLE).files) < MANY + 3
    assert sum(file.rows for file in store.snapshot(TABLE).files) == 3 * MANY
    said = last_accumulated(store)
    assert [json.loads(said[interval(at).start_us]["files"])[0][0] for at in range(3 * MANY)] == [f"/{at}" for at in range(3 * MANY)]


def test_a_range_reads_the_files_that_tell_of_it(store: DeltaStore) -> None:
    for at in range(MANY + 8):
        record(store, at)
    files = store.snapshot(TABLE).files
    late = interval(MANY + 5).start_us
    assert len(telling_of(files, late, late)) == 1
    assert list(last_accumulated(store, [interval(MANY + 5)])) == [late]
    assert last_accumulated(store, []) == {}
    asked = [interval(at) for at in (1, 3)]
    assert sorted(last_accumulated(store, asked)) == [interval(at).start_us for at in (1, 2, 3)]


def test_the_newest_report_of_a_batch_counts_wherever_it_lies(store: DeltaStore) -> None:
    for at in range(MANY + 1):
        record(store, at)
    assert record(store, 0, "w", seconds=1) == {interval(0).start_us: True}
    for at in range(1, MANY):
        record(store, at, "w", seconds=1)
    assert {said["version"] for start, said in last_accumulated(store).items() if start != interval(MANY).start_us} == {"w"}


class Busy(DeltaStore):
    """A table to which others commit first, so many times."""

    def __init__(self, root: Path, times: int) -> None:
        super().__init__(root)
        self.times = times

    def commit(self, *given: Any) -> None:
        if self.times:
            self.times -= 1
            raise ConflictError("another run committed first")
        super().commit(*given)


def test_a_report_is_written_after_conflicts(tmp_path: Path) -> None:
    record(Busy(tmp_path, 3), 0)
    assert len(last_accumulated(DeltaStore(tmp_path))) == 1


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_files, "_TRIES", 3)
    with pytest.raises(ConflictError, match="other runs keep writing reports; run again"):
        record(Busy(tmp_path, 99), 0)
