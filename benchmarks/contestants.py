"""Who takes part: which module computes which work, on which share of the events, and what was promised about it."""

import dataclasses
import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workloads import SESSIONS, SLIDING, Workload


@dataclasses.dataclass(frozen=True, slots=True)
class Contestant:
    """A module with `write_windows(files, out)`; `start()` and `read_windows(files, out)` where it needs them."""

    name: str
    title: str
    workload: Workload
    module: str
    share: float = 1.0
    """Share of the events it gets; its time counts 1 / share times."""
    ours: bool = False
    promised: float = 0.0
    """At least this many times our time."""

    def work(self, scale: float) -> Workload:
        """The workload at this scale, or the contestant's share of it."""
        return self.workload.scaled(scale * self.share)

    def start(self) -> None:
        """Whatever has to run before a job can: a Spark session, or nothing."""
        module = self._loaded()
        if hasattr(module, "start"):
            module.start()

    def write_windows(self, files: Sequence[Path], out: Path) -> None:
        """The job: from the events in `files` to windows in Parquet under `out`."""
        self._loaded().write_windows(files, out)

    def read_windows(self, files: Sequence[Path], out: Path) -> pa.Table:
        """What the job has written."""
        windows: pa.Table = self._loaded().read_windows(files, out) if self.ours else pq.read_table(out)
        return windows

    def _loaded(self) -> ModuleType:
        return importlib.import_module(f"benchmarks.{self.module}")


CONTESTANTS = (
    Contestant("ours-sliding", "Muntin, one batch", SLIDING, "ours.hour", ours=True),
    Contestant("ours-quarters", "Muntin, 15-minute batches in bulk", SLIDING, "ours.quarters", ours=True),
    Contestant("polars-sliding", "Polars, group_by_dynamic on states", SLIDING, "peers.polars_sliding", promised=0.77),
    Contestant("duckdb-sliding", "DuckDB, window over states", SLIDING, "peers.duckdb_sliding", promised=1),
    Contestant("spark-range", "Spark, states + RANGE window", SLIDING, "peers.spark_range", promised=8),
    Contestant("spark-explode", "Spark, states + explode", SLIDING, "peers.spark_explode", promised=15),
    Contestant("spark-window", "Spark, window() + groupBy", SLIDING, "peers.spark_window", share=0.1, promised=60),
    Contestant("ours-sessions", "Muntin, one batch", SESSIONS, "ours.sessions", ours=True),
    Contestant("polars-sessions", "Polars, one sort", SESSIONS, "peers.polars_sessions"),
    Contestant("duckdb-sessions", "DuckDB, one sort", SESSIONS, "peers.duckdb_sessions", promised=0.67),
    Contestant("spark-session", "Spark, session_window() + groupBy", SESSIONS, "peers.spark_session", promised=10),
)
BY_NAME = {contestant.name: contestant for contestant in CONTESTANTS}


def chosen(words: Sequence[str]) -> list[Contestant]:
    """The contestants whose name contains one of the words; all of them when there is no word."""
    return [one for one in CONTESTANTS if not words or any(word in one.name for word in words)]
