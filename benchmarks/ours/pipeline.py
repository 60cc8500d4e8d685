"""What all our pipelines share: the events as they are, the aggregates everyone computes, a run into a fresh folder."""

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.workloads import EPOCH
from muntin import Pipeline, read, run, sources
from muntin import aggregates as agg
from muntin.spark.session import opened
from muntin.windows.kind import Window

WINDOW = "windows"


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """One window over the files of a folder; `names` is a template over a batch's interval."""

    window: Window
    schedule: timedelta
    names: str = "*.parquet"

    def start(self) -> None:
        """Start the session, which takes seconds and is no part of the job."""
        session()

    def write_windows(self, files: Sequence[Path], out: Path, batches: range = range(1)) -> None:
        """Run the batches, numbered from EPOCH on, in one go."""
        start, end = (EPOCH + number * self.schedule for number in (batches.start, batches.stop))
        run(self.pipeline(files), root=str(out), start=start, end=end, spark=session())

    def read_windows(self, files: Sequence[Path], out: Path) -> pa.Table:
        """The published windows."""
        return read(self.pipeline(files), WINDOW, root=str(out))

    def _path(self, files: Sequence[Path]) -> str:
        return f"{files[0].parent.as_posix()}/{self.names}"

    def pipeline(self, files: Sequence[Path]) -> Pipeline:
        """The definition over these files."""
        return Pipeline(
            name="benchmark",
            source=sources.files(self._path(files), event_time="t", missing="empty", all_files="{" not in self.names),
            schedule=self.schedule,
            start=EPOCH,
            keys=["key"],
            windows={WINDOW: self.window},
            aggregates={
                "n": agg.count(),
                "sum_a": agg.sum("a"),
                "sum_b": agg.sum("b"),
                "min_b": agg.min("b"),
                "max_b": agg.max("b"),
            },
        )


def session(*, computes: bool = False) -> SparkSession:
    """The process's session; when there is none, `muntin run --spark` starts it so.

    `computes`: whether Spark itself computes rows.
    """
    if running := SparkSession.getActiveSession():
        return running
    with opened("local[*]", computes=computes) as started:
        return started


def start() -> None:
    """Start the session, which takes seconds and is no part of the job."""
    session()
