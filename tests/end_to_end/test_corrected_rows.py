"""Rows of an old batch are corrected: windows that are handed from batch to batch are derived anew as far as they differ, no further.

batches     0 .. 29 | 30 |  31 ..  63 | 64 .. 199
rows                  x                              other values, as many rows
windows              derived anew      as they were, and not looked at
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.finalize import shard
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.reports import RunReport
from muntin.jobs.state.bound import bind
from muntin.windows.kind import Window
from tests.case_counts import some
from tests.storage.three_batches import HERE

BEGIN, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
BATCHES, ROWS, AT = 200, 9, 30
KINDS = {
    "count": windows.by_count(4),
    "time": windows.by_time("90m"),
    "delta": windows.by_delta("v", 10, absolute=True),
    "punctuation": windows.by_punctuation("v > 97"),
    "last rows": windows.arrival(windows.by_count(5), trigger=windows.by_count(2)),
    "last hours": windows.arrival(windows.by_time("3h"), trigger=windows.by_count(4)),
    "limited session": windows.session("15m", max_length="4h"),
}
SESSIONS = {"short": windows.session("15m", max_length="4h"), "long": windows.session("45m", max_length="30h")}
"""The note of the short ones is the same again sooner."""


@dataclass(frozen=True)
class Place:
    """A pipeline, its files and its states."""

    folder: Path
    windows: Mapping[str, Window]

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="p",
            source=sources.files(str(self.folder / "{start:%Y%m%dT%H}.parquet"), event_time="t", arrival_time="t"),
            schedule="1h",
            start=BEGIN,
            keys=["k"],
            windows=self.windows,
            aggregates={"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x")},
        )

    def write(self, batches: Sequence[int], *, corrected: bool = False, rows: int = ROWS) -> None:
        """The rows of some batches. `corrected`: `x` of all of them is another; keys, times and `v` are what they were."""
        for batch in batches:
            dice, start = np.random.default_rng(batch), BEGIN + batch * HOUR
            late = 300 * (dice.random(ROWS) < 0.1)  # a tenth of the rows comes five hours late
            times = [start + timedelta(minutes=int(minute)) for minute in np.sort(dice.integers(0, 59, ROWS)) - late]
            v, x = dice.integers(0, 100, ROWS), dice.random(ROWS) + corrected
            table = pa.table({"t": times, "k": [f"k{at % 2}" for at in range(ROWS)], "v": v, "x": x})
            pq.write_table(table.slice(0, rows), self.folder / f"{start:%Y%m%dT%H}.parquet")

    def run(self, root: str, first: int, end: int) -> RunReport:
        return run(self.pipeline, root=self.folder / root, start=BEGIN + first * HOUR, end=BEGIN + end * HOUR, spark=HERE)

    def all(self, root: str) -> list[object]:
        """What is published, what is open, and what the ledger counted of each batch."""
        bound = bind(self.pipeline, self.folder / root)
        ledgers = [published(bound.store, name).ledger for name in self.windows]
        counted = [ledger.entries.to_table().drop_columns(["open_us", "note", "made"]).to_pylist() for ledger in ledgers if ledger]
        return [*counted, *(read(self.pipeline, name, root=self.folder / root, provisional=True) for name in self.windows)]


@pytest.fixture
def lived(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """A history in bulk, whose ledger has notes."""
    place = Place(tmp_path, {"w": KINDS[request.param]} if request.param in KINDS else SESSIONS)
    place.write(range(BATCHES))
    place.run("state", 0, BATCHES)
    return place


@pytest.mark.parametrize("lived", some(KINDS, one_in=4), indirect=True)
def test_a_correction_is_derived_as_far_as_it_is_felt(lived: Place) -> None:
    lived.write([AT], corrected=True)
    done = lived.run("state", AT, AT + 1).published["w"]
    assert len(done) <= BATCHES // 4, "the rest is not derived anew"
    assert done[0] <= BEGIN + AT * HOUR
    lived.run("clean", 0, BATCHES)
    assert lived.all("state") == lived.all("clean")
    assert lived.run("state", AT, AT + 1).published == {}


@pytest.mark.parametrize("lived", ["count"], indirect=True)
def test_two_corrections_and_new_batches_are_derived_in_one_run(lived: Place) -> None:
    more = [AT, BATCHES - AT, BATCHES]
    lived.write(more, corrected=True)
    done = lived.run("state", AT, BATCHES + 1).published["w"]
    assert {BEGIN + at * HOUR for at in more} <= {*done}
    assert len(done) < BATCHES // 2, "what lies between them is not"
    lived.run("clean", 0, BATCHES + 1)
    assert lived.all("state") == lived.all("clean")


@pytest.mark.parametrize("lived", some(["count", "last hours"], one_in=2), indirect=True)
def test_another_number_of_rows_is_felt_to_the_end(lived: Place) -> None:
    lived.write([AT], rows=ROWS - 1)
    done = lived.run("state", AT, AT + 1).published["w"]
    assert done[-1] == BEGIN + (BATCHES - 1) * HOUR, "all windows behind it begin elsewhere, or have another index"
    lived.run("clean", 0, BATCHES)
    assert lived.all("state") == lived.all("clean")


@pytest.mark.parametrize("lived", ["count"], indirect=True)
def test_a_lost_note_behind_a_correction_is_made_again(lived: Place) -> None:
    for path in (lived.folder / "state").rglob("carry/**/*.parquet"):
        path.unlink()
    lived.write([AT, BATCHES - AT], corrected=True)
    lived.run("state", AT, BATCHES)
    lived.run("clean", 0, BATCHES)
    assert lived.all("state") == lived.all("clean")


def test_a_note_of_several_tasks_is_compared_with_a_note_of_as_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path, {"w": KINDS["count"]})
    place.write(range(BATCHES))
    with monkeypatch.context() as patch:
        patch.setattr(shard, "WORTH_A_TASK", 100)
        place.run("state", 0, BATCHES)
    notes = [path.parent for path in (tmp_path / "state").rglob("carry/**/*.parquet")]
    assert len(notes) == 2 * len({*notes}), "two tasks have made the notes"
    place.write([AT], corrected=True)
    assert len(place.run("state", AT, AT + 1).published["w"]) <= BATCHES // 4
    place.run("clean", 0, BATCHES)
    assert place.all("state") == place.all("clean")


def test_windows_beside_sessions_that_never_end_count_late_rows_as_in_a_clean_run(tmp_path: Path) -> None:
    """New batches: sessions that have been open for long go on from a note, while the windows beside them are derived of states."""
    place = Place(tmp_path, {"hour": windows.tumbling("1h"), "visit": windows.session("10h"), "short": SESSIONS["short"]})
    place.write(range(BATCHES))
    place.run("state", 0, BATCHES - 9)
    for batch in range(BATCHES - 9, BATCHES):
        place.run("state", batch, batch + 1)
    place.run("clean", 0, BATCHES)
    assert place.all("state") == place.all("clean")


@pytest.mark.parametrize("lived", ["sessions"], indirect=True)
def test_windows_over_the_same_states_end_where_each_is_the_same_again(lived: Place) -> None:
    lived.write([AT], corrected=True, rows=ROWS - 1)
    done = lived.run("state", AT, AT + 1).published
    assert len(done["short"]) < len(done["long"]) < BATCHES
    lived.run("clean", 0, BATCHES)
    assert lived.all("state") == lived.all("clean"), "late rows, too, are counted as in a clean run"
