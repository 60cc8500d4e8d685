"""A world: a pipeline whose batches come in any order, are replaced, and are put together; and its clean run."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.tasks import Local
from tests.properties.equal_values import bitwise

START, MINUTE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
COLUMNS = [("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64()), ("s", pa.string()), ("gap", pa.int64())]
SCHEMA = pa.schema(COLUMNS)
SPANS = pa.schema([("k", pa.string()), ("begins", COLUMNS[0][1]), ("ends", COLUMNS[0][1]), ("shift", pa.int64())])
RATES = pa.schema([("k", pa.string()), ("since", COLUMNS[0][1]), ("rate", pa.float64())])
PLAIN: dict[str, Aggregate] = {"n": agg.count(), "total": agg.sum("x"), "last": agg.last("x")}


def usual(_: Path) -> dict[str, Any]:
    """Windows by the clock, of neighbours, and by arrival."""
    kinds = {
        "minutes": windows.tumbling("5m", grace="2m"),
        "sliding": windows.sliding("10m", step="1m"),
        "visits": windows.session("90s", grace="1m"),
        "changes": windows.unique_sliding("90s", resolution="1s"),
        "sevens": windows.arrival(windows.by_count(7)),
        "ever": windows.all_time(),
    }
    return {"windows": kinds, "aggregates": PLAIN}


def told_by_rows(folder: Path) -> dict[str, Any]:
    """Windows that rows or a table decide."""
    kinds = {
        "above": windows.while_("x > 0", at_most="5m"),
        "same": windows.while_same("s", grace="1m"),
        "between": windows.between("s = 'p'", "s = 'q'", max_length="3m"),
        "own_gaps": windows.session("90s", gap_by="gap"),
        "until": windows.session("90s", until="s = 'q'", grace="1m"),
        "shifts": windows.given(f"{folder}/spans.parquet", start="begins", end="ends", keys=["k"], columns=["shift"], grace="1m"),
    }
    return {"windows": kinds, "aggregates": PLAIN}


def looked_up(folder: Path) -> dict[str, Any]:
    """Windows in which values last, some of them hidden, over events that look something up."""
    kinds = {
        "right": windows.tumbling("5m", closed="right", grace="2m"),
        "some": windows.sliding("10m", step="1m", having="n > 2"),
        "dense": windows.tumbling("2m", dense=True),
        "trailing": windows.trailing(hours=1, every="10m"),
    }
    lasting = {
        "held": agg.last("x", carry="7m"),
        "mean": agg.time_weighted_mean("x", carry="30m"),
        "in": agg.time_in_state("s", carry="7m"),
    }
    rates = sources.lookup(sources.files(f"{folder}/rates.parquet"), keys=["k"], since="since")
    return {"windows": kinds, "aggregates": {**PLAIN, **lasting, "paid": agg.sum("x * rates.rate")}, "lookups": {"rates": rates}}


SETS = (usual, told_by_rows, looked_up)


@dataclass
class World:
    """A folder with data and state, and the chance that decides what happens.

    Attributes:
        definition: a set of windows and results.
        written: the minutes that have a file.
        tables_changed: whether no run has seen the tables as they are.
    """

    folder: Path
    chance: random.Random
    definition: Callable[[Path], Mapping[str, Any]] = usual
    written: set[int] = field(default_factory=set)
    tables_changed: bool = False

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="world",
            source=sources.files(str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="t"),
            schedule="1m",
            start=START,
            keys=["k"],
            limits=Limits(max_quarantined=None),
            **self.definition(self.folder),
        )

    def change_tables(self, minutes: int) -> None:
        """Other spans and other rates, up to so many minutes."""
        chance = self.chance
        spans = {
            (chance.choice("abü"), begin, begin + chance.randrange(1, 9), number)
            for number, begin in enumerate(chance.choices(range(minutes), k=minutes // 4))
        }
        rates = {(chance.choice("abü"), chance.randrange(-5, minutes)): chance.gauss(1, 1) for _ in range(minutes // 4)}
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = [{"k": k, "begins": START + begin * MINUTE, "ends": START + end * MINUTE, "shift": n} for k, begin, end, n in sorted(spans)]
        pq.write_table(pa.Table.from_pylist(rows, SPANS), self.folder / "spans.parquet")
        rows = [{"k": k, "since": START + since * MINUTE, "rate": rate} for (k, since), rate in sorted(rates.items())]
        pq.write_table(pa.Table.from_pylist(rows, RATES), self.folder / "rates.parquet")

    def write(self, minute: int) -> None:
        """The rows of a minute, some of them late; other ones every time."""
        chance, at = self.chance, START + minute * MINUTE
        rows = [
            {
                "t": at + timedelta(seconds=chance.uniform(0, 60) - chance.choice((0, 0, 0, 90, 600))),
                "k": chance.choice("abü"),
                "x": chance.gauss(0, 1e9),
                "s": chance.choice(("p", "p", "q", None)),
                "gap": chance.choice((20, 90, 200, None)),
            }
            for _ in range(chance.randrange(9))
        ]
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), self.folder / f"data/{at:%Y%m%dT%H%M}.parquet")
        self.written.add(minute)

    def run(self, root: str, first: int, end: int) -> None:
        """Run the minutes of `[first, end)`."""
        self.tables_changed = False
        run(self.pipeline, root=self.folder / root, start=START + first * MINUTE, end=START + end * MINUTE, spark=Local(2))

    def live(self, batches: int) -> Iterator[str]:
        """Let so many batches come: mostly the next one, some in bulk, some left out until later, some replaced; files are put together."""
        new, holes = 0, set[int]()
        self.change_tables(60)
        while new < batches or holes:
            step = self.chance.choices(("next", "bulk", "leave out", "fill", "replace", "maintain", "tables"), (60, 8, 4, 8, 18, 2, 2))[0]
            if step in ("next", "bulk") and new < batches:
                count = 1 if step == "next" else self.chance.randrange(2, 40)
                for minute in range(new, new + count):
                    self.write(minute)
                self.run("state", new, new + count)
                new += count
            elif step == "leave out" and new < batches:
                holes.add(new)
                new += 1
            elif step == "fill" and holes:
                minute = holes.pop()
                self.write(minute)
                self.run("state", minute, minute + 1)
            elif step == "replace" and self.written:
                minute = self.chance.choice(sorted(self.written))
                self.write(minute)
                self.run("state", minute, minute + 1)
            elif step == "maintain" and self.written:
                maintain(self.pipeline, root=self.folder / "state", older_than_us=0)
            elif step == "tables":
                self.change_tables(max(60, new))
                self.tables_changed = True
            yield step

    def compact(self) -> None:
        """Put together what can be."""
        bound = bind(self.pipeline, self.folder / "state")
        while compact(bound):
            pass

    def wrong(self) -> list[str]:
        """The windows that differ from a clean run of all minutes at once, in a bit."""
        last = max(self.written)
        if self.tables_changed:
            self.run("state", last, last + 1)
        self.run("clean", 0, last + 1)
        both = (
            {name: read(self.pipeline, name, root=self.folder / root, provisional=True) for name in self.pipeline.windows}
            for root in ("state", "clean")
        )
        ours, clean = both
        return [name for name in clean if not bitwise(ours[name], clean[name])]
