"""A world: a pipeline whose batches come in any order, are replaced, and are put together; and its clean run."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.tasks import Local
from tests.properties.equal_values import bitwise

START, MINUTE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
SCHEMA = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])


@dataclass
class World:
    """A folder with data and state, and the chance that decides what happens. `written`: the minutes that have a file."""

    folder: Path
    chance: random.Random
    written: set[int] = field(default_factory=set)

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="world",
            source=sources.files(str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="t"),
            schedule="1m",
            start=START,
            keys=["k"],
            windows={
                "minutes": windows.tumbling("5m", grace="2m"),
                "sliding": windows.sliding("10m", step="1m"),
                "visits": windows.session("90s", grace="1m"),
                "changes": windows.unique_sliding("90s", resolution="1s"),
                "sevens": windows.arrival(windows.by_count(7)),
                "ever": windows.all_time(),
            },
            aggregates={"n": agg.count(), "total": agg.sum("x"), "last": agg.last("x")},
        )

    def write(self, minute: int) -> None:
        """The rows of a minute, some of them late; other ones every time."""
        chance, at = self.chance, START + minute * MINUTE
        rows = [
            {
                "t": at + timedelta(seconds=chance.uniform(0, 60) - chance.choice((0, 0, 0, 90, 600))),
                "k": chance.choice("abü"),
                "x": chance.gauss(0, 1e9),
            }
            for _ in range(chance.randrange(9))
        ]
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), self.folder / f"data/{at:%Y%m%dT%H%M}.parquet")
        self.written.add(minute)

    def run(self, root: str, first: int, end: int) -> None:
        """Run the minutes of `[first, end)`."""
        run(self.pipeline, root=self.folder / root, start=START + first * MINUTE, end=START + end * MINUTE, spark=Local(2))

    def live(self, batches: int) -> Iterator[str]:
        """Let so many batches come: mostly the next one, some in bulk, some left out until later, some replaced; files are put together."""
        new, holes = 0, set[int]()
        while new < batches or holes:
            step = self.chance.choices(("next", "bulk", "leave out", "fill", "replace", "maintain"), (60, 8, 4, 8, 18, 2))[0]
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
            yield step

    def compact(self) -> None:
        """Put together what can be."""
        bound = bind(self.pipeline, self.folder / "state")
        while compact(bound):
            pass

    def wrong(self) -> list[str]:
        """The windows that differ from a clean run of all minutes at once, in a bit."""
        self.run("clean", 0, max(self.written) + 1)
        both = (
            {name: read(self.pipeline, name, root=self.folder / root, provisional=True) for name in self.pipeline.windows}
            for root in ("state", "clean")
        )
        ours, clean = both
        return [name for name in clean if not bitwise(ours[name], clean[name])]
