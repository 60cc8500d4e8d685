"""Any range for any keys, against a loop over the raw rows: late rows, batches replaced, behind a hole, put together."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, over, run, sources, windows
from muntin.definition.instants import from_us
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.lookups import range_states
from muntin.jobs.state import tiered
from muntin.jobs.state.bound import bind
from muntin.jobs.tiles.tiers import make_history_tiers
from muntin.testing.oracle import Batch
from muntin.testing.oracle.kinds import micros
from tests.case_counts import random_seeds
from tests.catalogue.aggregates import ROWS, Row
from tests.catalogue.columns import COLUMNS
from tests.oracle.over import over as naive
from tests.storage.three_batches import HERE

BEGIN, STEP, TICK = datetime(2024, 1, 1, 22, 20, tzinfo=UTC), timedelta(minutes=10), timedelta(milliseconds=300)
BATCHES = 8
MIDNIGHTS = [datetime(2024, 1, day, 23, tzinfo=UTC) for day in range(1, 4)]  # of Berlin
SCHEMA = pa.schema({"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "c": pa.int64(), **COLUMNS})
KEYS = ("k", "c")
WINDOWS: dict[str, Any] = {
    "tick": windows.tumbling("300ms"),
    "half": windows.sliding("30m", step="15m", grace="10m"),
    "visit": windows.session("7m"),
    "days": windows.tumbling("1d", timezone="Europe/Berlin"),
    "rows": windows.arrival(windows.by_count(3)),
}
"""Frames of a tick, and of days of Berlin; and rows, of which no range is made."""
BY: Sequence[tuple[str, ...] | None] = ((), ("k",), ("c",), ("c", "k"), None)
FEW = (
    "count()",
    'sum("n")',
    'mean("n")',
    'min("n")',
    'max("s")',
    'first("n")',
    'last("s")',
    'collect("n")',
    'variance("x")',
    'by("s", count())',
)

EXACT = ("count()", 'sum("n")', 'mean("n")', 'min("n")', 'max("s")', 'max_count("x")', 'any_of("n > 6")', 'histogram("x", [0, 5, 10])')


def judged(calls: Sequence[str] | slice) -> dict[str, Row]:
    """Rows of the table of aggregates that have an oracle of their own."""
    some = [row for row in ROWS if row.oracle and row.name != "rate"]
    chosen = some[calls] if isinstance(calls, slice) else [row for row in some if row.call in calls]
    return {f"a{at}": row for at, row in enumerate(chosen)}


@dataclass
class World:
    """A pipeline, the rows of its batches as they were read last, and their places."""

    folder: Path
    asked: Mapping[str, Row]
    rows: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        source = sources.files(str(self.folder / "data/{start:%H%M}.parquet"), event_time="t")
        aggregates = {name: row.made() for name, row in self.asked.items()}
        return Pipeline(
            name="w",
            source=source,
            schedule="10m",
            start=BEGIN,
            keys=list(KEYS),
            windows=WINDOWS,
            aggregates=aggregates,
            limits=Limits(max_ahead="9d"),
        )

    def go(self, first: int, end: int, dice: random.Random) -> None:
        """Bring new rows of some batches, and run these."""
        (self.folder / "data").mkdir(exist_ok=True)
        for at in range(first, end):
            self.rows[at] = [drawn(dice, at) for _ in range(dice.choice([0, 1, 5, 9]))]
            pq.write_table(pa.Table.from_pylist(self.rows[at], SCHEMA), self.folder / f"data/{BEGIN + at * STEP:%H%M}.parquet")
        run(self.pipeline, root=self.folder / "state", start=BEGIN + first * STEP, end=BEGIN + end * STEP, spark=HERE)

    def batches(self) -> list[Batch]:
        """The batches that were read, for the oracle."""
        borders = {at: (micros(BEGIN + at * STEP), micros(BEGIN + (at + 1) * STEP)) for at in self.rows}
        return [Batch(*borders[at], [{**row, "t": micros(row["t"])} for row in self.rows[at]]) for at in sorted(self.rows)]

    def differences(self, ranges: Sequence[tuple[datetime, datetime]], by: Sequence[str] | None) -> list[Any]:
        """What `over` says otherwise than the oracle of some ranges."""
        table = pa.table(
            {name: pa.array(each, SCHEMA.field("t").type) for name, each in zip(("start", "end"), zip(*ranges, strict=True), strict=True)}
        )
        ours = over(self.pipeline, table, by=by, root=self.folder / "state").to_pylist()
        spans = [(micros(start), micros(end)) for start, end in ranges]
        oracles = {name: row.oracle for name, row in self.asked.items() if row.oracle}
        theirs = naive(self.batches(), spans, oracles, keys=KEYS, by=KEYS if by is None else by)
        places = [
            [tuple(row[name] for name in (*(KEYS if by is None else by), "window_start", "window_end")) for row in rows]
            for rows in (ours, theirs)
        ]
        theirs_at = [(*place[:-2], from_us(place[-2]), from_us(place[-1])) for place in places[1]]
        if places[0] != theirs_at:
            return [places[0], theirs_at]
        pairs = zip(ours, theirs, strict=True)
        return [
            (place, row.call, our[name], their[name])
            for place, (our, their) in zip(places[0], pairs, strict=True)
            for name, row in self.asked.items()
            if not row.right.holds(our[name], their[name])
        ]


def drawn(dice: random.Random, at: int) -> dict[str, Any]:
    """A row of a batch: often at the time of others, sometimes hours late or ahead."""
    minutes = dice.choice([dice.randint(0, 9), dice.random() * 10, 3]) + dice.choice([0] * 8 + [-40, 1_500])
    return {
        "t": BEGIN + at * STEP + timedelta(minutes=round(minutes, 3)),
        "k": dice.choice(["a", "ü", None]),
        "c": dice.choice([1, 2, None]),
        "n": dice.choice([None, *range(-3, 9)]),
        "x": dice.choice([None, dice.randint(-99, 99) / 8]),
        "y": 1e9 + dice.randint(0, 9) / 8,
        "s": dice.choice([None, "p", "q", ""]),
        "b": dice.choice([None, True, False]),
        "d": dice.choice([None, Decimal("1.25"), Decimal(-7)]),
        "l": dice.choice([None, [], [1.5, None], [0.25] * 3]),
        "m": dice.choice([None, [1.0], [2.5, 0.5]]),
    }


def some_ranges(dice: random.Random) -> list[tuple[datetime, datetime]]:
    """Ranges that overlap, repeat, hold nothing; some of days."""
    ticks = [BEGIN + TICK * dice.randint(-10_000, 25_000) for _ in range(12)]
    pairs = [(min(one, other), max(one, other)) for one, other in zip(ticks[::2], ticks[1::2], strict=True) if one != other]
    return dice.sample(
        [*pairs, *pairs[:1], (MIDNIGHTS[0], MIDNIGHTS[1]), (MIDNIGHTS[0], MIDNIGHTS[2]), (BEGIN - 9 * STEP, BEGIN + 300 * STEP)], k=6
    )


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a size are put together."""
    monkeypatch.setattr(compaction, "MANY", 2)


@pytest.mark.parametrize("seed", random_seeds(40))
def test_any_history_as_a_loop_over_raw_rows(tmp_path: Path, seed: int) -> None:
    """Batches come in parts, behind holes, again with other rows; after each run any ranges by any keys are right."""
    dice, world = random.Random(seed), World(tmp_path, judged(FEW))
    for first, end in [(2, 4), (5, 7), (4, 5), (0, 2), *((at, at + 1) for at in dice.sample(range(BATCHES), k=1))]:
        world.go(first, end, dice)
        assert world.differences(some_ranges(dice), dice.choice(BY)) == []


@pytest.mark.parametrize("seed", random_seeds(40))
def test_any_history_with_tiles(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles stand for the states of the batches that they were made of; what comes later is added, wherever it lies."""
    monkeypatch.setattr(tiered, "BASE", 2)
    monkeypatch.setattr(tiered, "LONG", 10**9)  # tiles for the windows themselves are tried elsewhere
    monkeypatch.setattr(tiered, "SHORTEST_US", 1_024 * TICK // timedelta(microseconds=1))
    read = tiles_read(monkeypatch)
    dice, world = random.Random(seed), World(tmp_path, judged(EXACT))
    for first, end in [(0, 4), (6, 7), (4, 6), *((at, at + 1) for at in dice.sample(range(7), k=1)), (7, BATCHES)]:
        world.go(first, end, dice)
        while dice.random() < 0.6 and make_history_tiers(bind(world.pipeline, tmp_path / "state")):
            pass
        assert world.differences(some_ranges(dice), dice.choice(BY)) == []
    assert sum(read) > 0


def tiles_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tiles are read in place of states, each time."""
    read, chosen = list[int](), range_states.tiles_of_ranges

    def counted(*given: Any) -> Any:
        found = chosen(*given)
        read.append(sum(len(starts) for _, starts in found.files))
        return found

    monkeypatch.setattr(range_states, "tiles_of_ranges", counted)
    return read


@pytest.mark.parametrize("third", range(3))
def test_every_aggregate(tmp_path: Path, third: int) -> None:
    dice, world = random.Random(third), World(tmp_path, judged(slice(third, None, 3)))
    world.go(0, BATCHES, dice)
    for by in BY:
        assert world.differences(some_ranges(dice), by) == []
