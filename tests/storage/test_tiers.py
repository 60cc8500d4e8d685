"""With tiers as without: after every run of a random history of one-minute batches, to the last bit."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us, label
from muntin.jobs.finalize import finalize_task, shard
from muntin.jobs.finalize.tiers import Tiers, tiers_of
from muntin.jobs.inspect.late import late
from muntin.jobs.state import tiered
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.tiles.tiers import make_tiers
from muntin.tasks import Local
from tests import case_counts
from tests.properties.equal_values import bitwise

HERE: Any = Local(2)
START, MINUTE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
SCHEMA = pa.schema([("at", pa.timestamp("us", tz="UTC")), ("k", pa.int64()), ("n", pa.int64()), ("x", pa.float64())])
EXACT = {
    "events": agg.count(),
    "total": agg.sum("n"),
    "mean": agg.mean("n"),
    "least": agg.min("n"),
    "most": agg.max("x"),
    "price": agg.sum("n::DECIMAL(18, 2)"),
    "any": agg.any_of("n > 3"),
    "holders": agg.max_count("n"),
}
# With base 2 and frames of a minute, tiles are 2, 4, 8, 16 minutes long; a window of 8 minutes has tiers.
WINDOWS = {
    "short": windows.sliding("4m", step="1m"),
    "middle": windows.sliding("12m", step="1m", grace="2m"),
    "long": windows.sliding("30m", step="2m"),
    "hours": windows.tumbling("20m", grace="1m"),
}
UNFIT = {
    "visits": windows.session("3m"),
    "so_far": windows.cumulating("20m", step="5m"),
    "sets": windows.unique_sliding("2m", resolution="1m"),
}
"""States alone are read for them, in the tasks that read tiers for the others."""


@dataclass
class Both:
    """A pipeline run with tiers and without. `read`: how many tiles each run with tiers read; None where it read states alone."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    aggregates: Mapping[str, Any] = field(default_factory=lambda: EXACT)
    read: list[int | None] = field(default_factory=list)
    windows: Mapping[str, Any] = field(default_factory=lambda: WINDOWS)
    rollups: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        path = str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet")
        return Pipeline(
            name="both",
            source=sources.files(path, event_time="at"),
            schedule="1m",
            start=START,
            keys=["k"],
            windows=self.windows,
            aggregates=self.aggregates,
            rollups=self.rollups,
        )

    @property
    def bound(self) -> Bound:
        return bind(self.pipeline, self.folder / "with")

    def write(self, minute: int, rows: list[dict[str, Any]]) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), self.folder / f"data/{START + minute * MINUTE:%Y%m%dT%H%M}.parquet")

    def go(self, first: int, end: int) -> None:
        """Run some batches with tiers."""
        run(self.pipeline, root=self.folder / "with", start=START + first * MINUTE, end=START + end * MINUTE, spark=HERE)

    def compare(self, first: int, end: int) -> None:
        """Run some batches without tiers, and compare all that is published."""
        self.monkeypatch.setattr(tiered, "LONG", 10**9)
        run(self.pipeline, root=self.folder / "without", start=START + first * MINUTE, end=START + end * MINUTE, spark=HERE)
        self.monkeypatch.setattr(tiered, "LONG", 4)
        for window in self.pipeline.windows:
            ours, theirs = (read(self.pipeline, window, root=self.folder / root) for root in ("with", "without"))
            assert bitwise(ours, theirs), (window, first, end)
            assert late(self.pipeline, window, root=self.folder / "with") == late(self.pipeline, window, root=self.folder / "without")

    def lose(self, minute: int) -> None:
        """Lose the published windows of a batch: they are derived again, from a history that goes on behind it."""
        lost = [*self.folder.glob(f"*/both/windows/*/{label(instant_us(START + minute * MINUTE, 'minute'))}/*.parquet")]
        assert lost
        for path in lost:
            path.unlink()

    def tier_files(self) -> list[Path]:
        """Of the table as it is, the smallest tiles first."""
        [frames] = self.bound.frame_sets
        states = self.bound.store.snapshot(frames.table)
        found = tiered.tiered(self.bound, frames, states.schema)
        assert found is not None
        return [Path(self.bound.folder, found.table, file.path) for file in self.bound.store.snapshot(found.table).files]


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    found = Both(tmp_path, monkeypatch)
    monkeypatch.setattr(tiered, "BASE", 2)

    def counted(*given: Any) -> Tiers | None:
        tiers = tiers_of(*given)
        if tiered.LONG == 4:
            found.read.append(None if tiers is None else sum(len(starts) for _, starts in tiers.files))
        return tiers

    monkeypatch.setattr(shard, "tiers_of", counted)
    return found


def some_rows(dice: random.Random, minute: int, late_share: float = 0.2) -> list[dict[str, Any]]:
    """Up to six rows of three keys; some come late, by up to forty minutes."""
    times = [minute + dice.random() - (dice.randint(1, 40) if dice.random() < late_share else 0) for _ in range(dice.randint(0, 6))]
    return [
        {"at": START + at * MINUTE, "k": dice.randint(0, 2), "n": dice.choice([None, *range(-5, 9)]), "x": dice.choice([0.5, 2.5, 0.0])}
        for at in times
    ]


@pytest.mark.parametrize("unfit", [False, True])
@pytest.mark.parametrize("seed", case_counts.random_seeds(30))
def test_any_history(both: Both, seed: int, unfit: bool) -> None:
    """After every run, as a pipeline without tiers that ran the same batches; where many rows are late, few tiles are of use."""
    dice = random.Random(seed)
    both.windows = WINDOWS | UNFIT if unfit else WINDOWS
    for minute in range(41):
        both.write(minute, some_rows(dice, minute))
    replaced = dice.randint(0, 31)
    runs = [(0, 30), (30, 31), (31, 32), (replaced, replaced + 1), (32, 35), (38, 40), (35, 38), (40, 41)]
    for first, end in runs:  # batches 38 and 39 wait for those before them
        if first == replaced:
            both.write(replaced, some_rows(dice, replaced))
        both.go(first, end)
        both.compare(first, end)
    assert any(each is not None for each in both.read)


@pytest.mark.parametrize("unfit", [False, True])
def test_tiles_are_read_where_rows_come_in_time(both: Both, unfit: bool) -> None:
    dice = random.Random(1)
    both.windows = WINDOWS | UNFIT if unfit else WINDOWS
    for minute in range(41):
        both.write(minute, some_rows(dice, minute, 0))
    for first, end in [(0, 30), *((minute, minute + 1) for minute in range(30, 41))]:
        both.go(first, end)
        both.compare(first, end)
    assert sum(each or 0 for each in both.read) > (10 if unfit else 30)


def test_rollups_read_tiles_of_all_keys(both: Both) -> None:
    dice = random.Random(3)
    both.windows, both.rollups = {"long": WINDOWS["long"], "visits": UNFIT["visits"]}, {"all": []}
    for minute in range(41):
        both.write(minute, some_rows(dice, minute, 0.05))
    for first, end in [(0, 30), (30, 31), (34, 36), (31, 34), (36, 38)]:
        both.go(first, end)
        both.compare(first, end)
    assert any(both.read)


# batch     ... 33 ...        the window that ends at 34 is closed
# batch               36      brings a row of minute 17: too late for that window, and in the tiles that are made now
def test_a_window_that_is_derived_again_holds_no_later_row(both: Both) -> None:
    for minute in range(41):
        rows = [{"at": START + minute * MINUTE, "k": 1, "n": 1, "x": 1.0}]
        both.write(minute, [*rows, {"at": START + 17 * MINUTE, "k": 1, "n": 100, "x": 1.0}] if minute == 36 else rows)
    for first, end in ((0, 33), (33, 34), (34, 41)):
        both.go(first, end)
    both.lose(33)
    both.go(33, 34)
    both.compare(0, 41)


def test_long_windows_read_few_rows(both: Both) -> None:
    """Each minute has an event of one key: without tiers a window of 30 minutes reads 30 states and more."""
    for minute in range(78):
        both.write(minute, [{"at": START + minute * MINUTE, "k": 1, "n": minute, "x": 1.0}])
    both.go(0, 70)
    while make_tiers(both.bound):
        pass
    seen, reading = list[int](), finalize_task.read_states

    def counted(*given: Any, **more: Any) -> pa.Table:
        seen.append(len(found := reading(*given, **more)))
        return found

    both.monkeypatch.setattr(finalize_task, "read_states", counted)
    for minute in range(70, 78):
        both.go(minute, minute + 1)
    assert max(seen) < 20
    both.compare(0, 78)


@pytest.mark.parametrize("harm", ["damaged", "gone"])
@pytest.mark.parametrize("which", ["index", "rows"])
def test_damaged_tiers_are_no_error(both: Both, harm: str, which: str) -> None:
    dice = random.Random(5)
    for minute in range(38):
        both.write(minute, some_rows(dice, minute, 0))
    both.go(0, 33)
    harmed = [path for path in both.tier_files() if path.name.startswith("index") == (which == "index")]
    for path in harmed:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.unlink() if harm == "gone" else path.write_bytes(content)
    both.go(33, 34)
    for minute in range(34, 38):
        both.go(minute, minute + 1)
    both.compare(0, 38)
    assert both.read[-1]  # they were made again


# minute       14               20                the window of 30 minutes that ends at 44 holds both
# batch 20                      -0.0              the first that came in time, and so the greatest
# batch 21     0.0, late                          the first in the order of frames
def test_an_odd_float_is_read_from_states(both: Both) -> None:
    """The greatest of 0.0 and -0.0 is the first: only the states tell which that is."""
    both.aggregates = {"most": agg.max("x"), "least": agg.min("x")}
    for minute in range(48):
        rows = [{"at": START + minute * MINUTE, "k": 1, "n": 0, "x": -0.0 if minute == 20 else -1.0}]
        late_row = {"at": START + 14 * MINUTE, "k": 1, "n": 0, "x": 0.0}
        both.write(minute, [*rows, late_row] if minute == 21 else rows)
    both.go(0, 40)
    for minute in range(40, 48):
        both.go(minute, minute + 1)
    both.compare(0, 48)
    most = read(both.pipeline, "long", root=both.folder / "with", start=START + 14 * MINUTE, end=START + 44 * MINUTE)["most"]
    assert str(most[0].as_py()) == "-0.0"
    assert any(both.read)


@pytest.mark.parametrize(
    "aggregates",
    [{"total": agg.sum("x")}, {"spread": agg.stddev("n")}, {"all": agg.collect("n")}, {"first": agg.first("n")}],
    ids=lambda one: next(iter(one)),
)
def test_what_depends_on_order_has_no_tiers(both: Both, aggregates: Mapping[str, Any]) -> None:
    both.aggregates = {"events": agg.count(), **aggregates}
    dice = random.Random(3)
    for minute in range(40):
        both.write(minute, some_rows(dice, minute))
    both.go(0, 39)
    both.go(39, 40)
    assert both.read == [None, None]
    assert not Path(both.bound.folder, "tiers").exists()
