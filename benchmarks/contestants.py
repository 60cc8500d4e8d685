"""Who takes part: which module computes which work, on which share of the events, and what was promised about it."""

import dataclasses
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import workloads
from benchmarks.workloads import COUNTED, DAYS, DELTAS, LAST_ROWS, SESSIONS, SLIDING, STRETCHES, UNIQUE, Workload


@dataclasses.dataclass(frozen=True, slots=True)
class Contestant:
    """A module, or a job in it, with `write_windows(files, out)`; `start()`, `read_windows(files, out)` where it needs them."""

    name: str
    title: str
    workload: Workload
    module: str
    share: float = 1.0
    """Share of the events it gets; its time counts 1 / share times."""
    ours: bool = False
    promised: float = 0.0
    """At least this many times our CPU seconds."""
    job: str = ""
    """Its name in the module; without one the module itself."""

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

    def _loaded(self) -> Any:  # noqa: ANN401 - a module or a job, which have the same functions
        module = importlib.import_module(f"benchmarks.{self.module}")
        return getattr(module, self.job) if self.job else module


def tumbling(of: str, work: Workload, job: str) -> Contestant:
    """Our tumbling windows of the same events: `ours-tumbling-...`."""
    return Contestant(f"ours-tumbling-{of}", "Muntin, one batch", work, "ours.tumbling", ours=True, job=job)


CONTESTANTS = (
    Contestant("ours-sliding", "Muntin, one batch", SLIDING, "ours.hour", ours=True),
    Contestant("ours-quarters", "Muntin, 15-minute batches in bulk", SLIDING, "ours.quarters", ours=True),
    Contestant("polars-sliding", "Polars, group_by_dynamic on states", SLIDING, "peers.polars_sliding", promised=0.77),
    Contestant("duckdb-sliding", "DuckDB, window over states", SLIDING, "peers.duckdb_sliding", promised=1),
    Contestant("spark-range", "Spark, states + RANGE window", SLIDING, "peers.spark_range", promised=8),
    Contestant("spark-explode", "Spark, states + explode", SLIDING, "peers.spark_explode", promised=15),
    Contestant("spark-window", "Spark, window() + groupBy", SLIDING, "peers.spark_window", share=0.1, promised=50),
    Contestant("ours-sessions", "Muntin, one batch", SESSIONS, "ours.sessions", ours=True),
    Contestant("polars-sessions", "Polars, one sort", SESSIONS, "peers.polars_sessions"),
    Contestant("duckdb-sessions", "DuckDB, one sort", SESSIONS, "peers.duckdb_sessions", promised=0.77),
    Contestant("spark-session", "Spark, session_window() + groupBy", SESSIONS, "peers.spark_session", promised=8),
    Contestant("ours-unique", "Muntin, one batch", UNIQUE, "ours.unique", ours=True, job="JOB"),
    Contestant("polars-unique", "Polars, one sort + rolling", UNIQUE, "peers.polars_unique"),
    Contestant("duckdb-unique-join", "DuckDB, join by pieces of 10 s", UNIQUE, "peers.duckdb_unique_join", promised=1),
    Contestant("duckdb-unique-range", "DuckDB, RANGE window over states", UNIQUE, "peers.duckdb_unique_range", promised=1),
    Contestant("ours-counted", "Muntin, one batch", COUNTED, "ours.arrival", ours=True, job="COUNTED"),
    Contestant("polars-counted", "Polars, row number + group_by", COUNTED, "peers.polars_counted"),
    Contestant("duckdb-counted", "DuckDB, row_number + GROUP BY", COUNTED, "peers.duckdb_counted", promised=0.5),
    Contestant("spark-counted", "Spark, row_number + groupBy", COUNTED, "peers.spark_counted", promised=4),
    Contestant("ours-last-rows", "Muntin, one batch", LAST_ROWS, "ours.arrival", ours=True, job="LAST_ROWS"),
    Contestant("polars-last-rows", "Polars, one sort + rolling", LAST_ROWS, "peers.polars_last_rows"),
    Contestant("duckdb-last-rows", "DuckDB, ROWS window", LAST_ROWS, "peers.duckdb_last_rows"),
    Contestant("spark-last-rows", "Spark, rowsBetween", LAST_ROWS, "peers.spark_last_rows", promised=4),
    Contestant("ours-deltas", "Muntin, one batch", DELTAS, "ours.arrival", ours=True, job="DELTAS"),
    Contestant("numba-deltas", "a plain loop, compiled: the lower bound", DELTAS, "peers.numba_deltas"),
    Contestant("ours-days", "Muntin, one batch", DAYS, "ours.days", ours=True, job="JOB"),
    Contestant("polars-days", "Polars, local date + group_by", DAYS, "peers.polars_days"),
    Contestant("duckdb-days", "DuckDB, date_trunc + GROUP BY", DAYS, "peers.duckdb_days", promised=0.5),
    Contestant("spark-days", "Spark, date_trunc + groupBy", DAYS, "peers.spark_days"),
    Contestant("ours-stretches", "Muntin, one batch", STRETCHES, "ours.arrival", ours=True, job="STRETCHES"),
    tumbling("sliding", workloads.SLIDING_TUMBLING, "SLIDING"),
    tumbling("sessions", workloads.SESSIONS_TUMBLING, "SESSIONS"),
    tumbling("unique", workloads.UNIQUE_TUMBLING, "UNIQUE"),
    tumbling("counted", workloads.COUNTED_TUMBLING, "COUNTED"),
    tumbling("last-rows", workloads.LAST_ROWS_TUMBLING, "LAST_ROWS"),
    tumbling("days", workloads.DAYS_TUMBLING, "DAYS"),
)
BY_NAME = {contestant.name: contestant for contestant in CONTESTANTS}


def chosen(words: Sequence[str]) -> list[Contestant]:
    """The contestants whose name contains one of the words; all of them when there is no word."""
    return [one for one in CONTESTANTS if not words or any(word in one.name for word in words)]
