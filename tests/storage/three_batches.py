"""A pipeline of three small batches on disk: late rows, refused rows, an open session, floats that sum differently in every order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, RunReport, read, run, sources, windows
from muntin import aggregates as agg
from muntin.files.paths import AnyPath, path_of
from muntin.jobs.state.bound import bind
from muntin.store.delta import DeltaStore
from muntin.tasks import Local

HERE = Local(2)
START = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
SCHEMA = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])
Minutes = Sequence[float | None]

#        0h            1h             2h            3h
FIRST: tuple[Minutes, ...] = ((5, 20, 59.5, None), (70, 61, 30), (130, 179, 100, 119))
OTHER: Minutes = (75, 62, 62, 15)
"""What batch 1 says the second time."""


@dataclass(frozen=True)
class Small:
    """Its data below a folder; its roots, too, or where `roots` says."""

    folder: Path
    spark: Any = HERE
    roots: str = ""

    def root(self, name: str) -> AnyPath:
        return path_of(self.roots or self.folder, name)

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="small",
            source=sources.files(str(self.folder / "data/{start:%H}.parquet"), event_time="t"),
            schedule="1h",
            start=START,
            limits=Limits(max_quarantined=None),
            keys=["k"],
            windows={"hours": windows.sliding("2h", step="1h"), "visits": windows.session("20m")},
            aggregates={"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x")},
        )

    def write(self, at: int, minutes: Minutes) -> None:
        """The rows of a batch, minutes after the start."""
        (self.folder / "data").mkdir(exist_ok=True)
        table = pa.Table.from_pylist([row(place, minute) for place, minute in enumerate(minutes)], SCHEMA)
        pq.write_table(table, self.folder / f"data/{at:02d}.parquet")

    def write_all(self) -> None:
        for at, minutes in enumerate(FIRST):
            self.write(at, minutes)

    def run(self, root: str, first: int = 0, last: int = 2, **more: Any) -> RunReport:
        """Batches first..last, last included."""
        start, end = START + first * HOUR, START + (last + 1) * HOUR
        return run(self.pipeline, root=self.root(root), start=start, end=end, spark=self.spark, **more)

    def store(self, root: str) -> DeltaStore:
        return DeltaStore(bind(self.pipeline, self.root(root), claim=True).folder)

    def tables(self, root: str) -> dict[str, pa.Table]:
        """All that is published."""
        return {name: read(self.pipeline, name, root=self.root(root)) for name in self.pipeline.windows}


def at_once(folder: Path) -> None:
    """The three batches, published in `state` by one run."""
    small = Small(folder)
    small.write_all()
    small.run("state")


def one_by_one(folder: Path) -> None:
    """The three batches, published in `state` by a run each."""
    small = Small(folder)
    small.write_all()
    for at in range(3):
        small.run("state", at, at)


def row(place: int, minute: float | None) -> Mapping[str, Any]:
    """Two keys in turn."""
    t = None if minute is None else START + timedelta(minutes=minute)
    return {"t": t, "k": "aü"[place % 2], "x": 0.1 + 1e9 * (place % 3) + place / 7}


def facts(report: RunReport) -> list[dict[str, Any]]:
    """What a report says of each batch, but for what it says about the runs before it."""
    return [{name: value for name, value in batch.to_dict().items() if name != "source_changed"} for batch in report.batches]
