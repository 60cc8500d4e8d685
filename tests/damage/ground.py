"""A root that has every kind of file: two pipelines over the same minutes, their backups of several ages, and clean runs."""

import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, aggregates, read, run, sources, windows
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.records.verdicts import record_checks
from muntin.jobs.state.bound import bind
from muntin.quality.report import Check, QualityReport
from muntin.tasks import Local

START, MINUTE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
HERE = Local(2)
SCHEMA = pa.schema([("at", pa.timestamp("us", tz="UTC")), ("id", pa.string()), ("k", pa.string()), ("n", pa.int64()), ("x", pa.float64())])
OLD = 3
"""The batch that is replaced in the last run, and again after the damage."""
TOGETHER = 6
"""So many minutes are a run of the pipeline with tiers."""
CHECK = Check("expect_column_values_to_be_between", "n", {"column": "n", "min_value": 1}, "critical", success=True)


@dataclass(frozen=True)
class Ground:
    """A folder: `data`, the state `root`, its backups `age0`, `age1`, ..., and `clean`, the windows of clean runs.

    Attributes:
        folder: of all.
        bulk: so many minutes are read by the first run.
        single: so many after them, each by a run; a multiple of `TOGETHER`.
    """

    folder: Path
    bulk: int = 40
    single: int = 24

    @property
    def batches(self) -> int:
        return self.bulk + self.single

    @property
    def pipelines(self) -> Mapping[str, Pipeline]:
        """Name -> definition: one has notes, ids, sessions and floats; one has tiers."""
        path = str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet")
        mixed = Pipeline(
            name="mixed",
            source=sources.files(path, event_time="at", rows=sources.events(dedupe="id", within="10m")),
            schedule="1m",
            start=START,
            keys=["k"],
            windows={
                "sliding": windows.sliding("5m", step="1m"),
                "visits": windows.session("90s", grace="1m"),
                "sevens": windows.arrival(windows.by_count(7)),
            },
            aggregates={"events": aggregates.count(), "total": aggregates.sum("x"), "spread": aggregates.stddev("x")},
        )
        long = Pipeline(
            name="long",
            source=sources.files(path, event_time="at"),
            schedule="1m",
            start=START,
            keys=["k"],
            windows={"long": windows.sliding("2h", step="1m")},
            aggregates={"events": aggregates.count(), "total": aggregates.sum("n")},
        )
        return {"mixed": mixed, "long": long}

    def write(self, minute: int, version: int = 0) -> None:
        """The rows of a minute: some late, some repeated, some without a time."""
        chance, begin = random.Random(1000 * version + minute), START + minute * MINUTE
        rows = [
            {
                "at": None if chance.random() < 0.1 else begin + timedelta(seconds=chance.uniform(0, 60) - chance.choice((0, 0, 0, 90))),
                "id": str(minute + place - chance.choice((0, 0, 0, 1)) * 5),
                "k": chance.choice("abü"),
                "n": chance.randrange(100),
                "x": chance.gauss(0, 1e9),
            }
            for place in range(0, 120, 10)
        ]
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), self.folder / f"data/{begin:%Y%m%dT%H%M}.parquet")

    def run(self, root: Path, first: int, end: int, only: str = "") -> None:
        """Run the minutes of `[first, end)`. `only`: one pipeline of them."""
        for name, pipeline in self.pipelines.items():
            if only in ("", name):
                run(pipeline, root=root, start=START + first * MINUTE, end=START + end * MINUTE, spark=HERE)

    def seen(self, root: Path, only: str = "") -> dict[str, pa.Table]:
        """All that readers see of a root: published windows, open windows, refused rows."""
        found = {}
        for name, pipeline in self.pipelines.items():
            if only in ("", name):
                for window in pipeline.windows:
                    found[f"{name}/{window}"] = read(pipeline, window, root=root)
                    found[f"{name}/{window}, open"] = read(pipeline, window, root=root, provisional=True)
                found[f"{name}/quarantine"] = quarantined(pipeline, root=root)
        return found

    def make(self) -> None:
        """Write the data, run the batches, and keep a backup now and then; the last run replaces an old batch."""
        root = self.folder / "root"
        for minute in range(self.batches + 1):
            self.write(minute)
        self.run(root, 0, self.bulk)
        self._verdicts(root)
        self._backup(root, 0)
        for minute in range(self.bulk, self.batches):
            for name in self.pipelines:
                size = TOGETHER if name == "long" else 1
                if (minute + 1 - self.bulk) % size == 0:
                    self.run(root, minute + 1 - size, minute + 1, name)
            if minute == (self.bulk + self.batches) // 2:
                self._verdicts(root)
                self._backup(root, 1)
        self._backup(root, 2)
        self.write(OLD, 1)
        self.run(root, OLD, OLD + 1)

    def _verdicts(self, root: Path) -> None:
        for pipeline in self.pipelines.values():
            report = QualityReport(next(iter(pipeline.windows)), 7, (CHECK,)).to_dict()
            record_checks(bind(pipeline, root).store, [(report, [0])], START + self.batches * MINUTE)

    def _backup(self, root: Path, age: int) -> None:
        shutil.copytree(root, self.folder / f"age{age}")
