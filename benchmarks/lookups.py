"""`python -m benchmarks.lookups`: `as_of` beside DuckDB's `ASOF JOIN` and Polars' `join_asof`, over published windows of 10 million events.

A million rows are looked up in sliding windows of 1,000 keys and in sessions of 100,000 keys, as Parquet to Parquet and as Arrow to Arrow.
All run in one warm process, in turns; results are compared first. The median of wall time and of CPU time of each.
"""

import argparse
import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.events import EPOCH_US, event_files
from benchmarks.workloads import EPOCH, SESSIONS, SLIDING
from muntin import Pipeline, as_of, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.lookups.as_of import as_of_files
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import bind
from muntin.states.columns import INSTANT
from muntin.tasks import Local

ROWS, RUNS = 1_000_000, 3
LENGTH = timedelta(hours=8)
FULL = timedelta(seconds=100) // timedelta(microseconds=1)
"""From then on each sliding window has events of each key. Of an empty window the peers' joins find the window before it."""
NAMES = ("window_start", "window_end", "n", "total", "least")


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A pipeline that was run, and the rows to look up, as a table and as a file."""

    name: str
    pipeline: Pipeline
    folder: Path
    rows: pa.Table

    @property
    def files(self) -> list[str]:
        """The Parquet files of the published windows."""
        bound = bind(self.pipeline, self.folder / "state")
        now = published(bound.store, "w")
        return [f"{bound.table(now.table)}/{file.path}" for file in now.snapshot.files if file.rows]


def cases(folder: Path, data: Path, scale: float) -> list[Case]:
    """Sliding windows of 1,000 keys, each with events in each window; and sessions of 100,000 keys."""
    found = []
    for name, whole, kind in (("sliding", SLIDING, windows.sliding("100s", step="1s")), ("sessions", SESSIONS, windows.session("10s"))):
        work = whole.scaled(scale)
        event_files(work, data)
        pipeline = Pipeline(
            name=name,
            source=sources.files(f"{data / work.folder}/*.parquet", event_time="t", all_files=True),
            schedule=LENGTH,
            start=EPOCH,
            keys=["key"],
            windows={"w": kind},
            aggregates={"n": agg.count(), "total": agg.sum("a"), "least": agg.min("b")},
        )
        run(pipeline, root=folder / name / "state", start=EPOCH, end=EPOCH + LENGTH)
        dice = np.random.default_rng(7)
        seen = EPOCH_US + dice.integers(FULL, timedelta(seconds=work.duration_s) // timedelta(microseconds=1), ROWS)
        rows = pa.table({"id": np.arange(ROWS), "key": dice.integers(0, work.keys, ROWS, np.int32), "seen": pa.array(seen).cast(INSTANT)})
        pq.write_table(rows, folder / name / "rows.parquet")
        found.append(Case(name, pipeline, folder / name, rows))
    return found


def ours(case: Case) -> pa.Table:
    """The answers of `as_of` for rows in memory."""
    found = as_of(case.pipeline, "w", case.rows, at="seen", root=case.folder / "state", known="ended")
    return found.select(["id", *NAMES])


def ours_to_file(case: Case) -> pa.Table:
    """The answers of `as_of` for a file, written to a file."""
    rows, out, root = (str(case.folder / name) for name in ("rows.parquet", "ours.parquet", "state"))
    how = {"root": root, "known": "ended", "within": None, "provisional": False}
    as_of_files(Local(), {"": (case.pipeline, "w")}, rows, out, at="seen", prefix="", **how)
    return pq.read_table(out, columns=["id", *NAMES])


def query(case: Case, rows: str) -> str:
    """The look-up as DuckDB has it."""
    chosen = ", ".join(f"w.{name}" for name in NAMES)
    joined = f"{rows} r ASOF LEFT JOIN read_parquet({case.files}) w ON r.key = w.key AND w.window_end <= r.seen"
    return f"SELECT r.*, {chosen} FROM {joined} ORDER BY r.id"


def ducks(case: Case) -> pa.Table:
    """The answers of DuckDB for rows in memory."""
    asked = case.rows  # noqa: F841 - DuckDB finds it by its name
    return duckdb.sql(query(case, "asked")).to_arrow_table().select(["id", *NAMES])


def ducks_to_file(case: Case) -> pa.Table:
    """The answers of DuckDB for a file, written to a file."""
    out = case.folder / "duckdb.parquet"
    duckdb.sql(f"COPY ({query(case, repr(str(case.folder / 'rows.parquet')))}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")
    return pq.read_table(out, columns=["id", *NAMES])


def looked_up(case: Case, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The look-up as Polars has it."""
    found = pl.scan_parquet(case.files, hive_partitioning=False).select("key", *NAMES).sort("window_end")
    joined = rows.sort("seen").join_asof(found, left_on="seen", right_on="window_end", by="key", coalesce=False, check_sortedness=False)
    return joined.sort("id")


def bears(case: Case) -> pa.Table:
    """The answers of Polars for rows in memory."""
    return looked_up(case, pl.from_arrow(case.rows).lazy()).collect().to_arrow().select(["id", *NAMES])


def bears_to_file(case: Case) -> pa.Table:
    """The answers of Polars for a file, written to a file."""
    out = case.folder / "polars.parquet"
    looked_up(case, pl.scan_parquet(case.folder / "rows.parquet")).collect().write_parquet(out, compression="zstd")
    return pq.read_table(out, columns=["id", *NAMES])


WAYS: dict[str, dict[str, Callable[[Case], pa.Table]]] = {
    "memory": {"muntin": ours, "duckdb": ducks, "polars": bears},
    "files": {"muntin": ours_to_file, "duckdb": ducks_to_file, "polars": bears_to_file},
}


def timed(way: Callable[[Case], pa.Table], case: Case) -> tuple[float, float]:
    """Wall and CPU seconds of a look-up."""
    cpu, wall = time.process_time(), time.perf_counter()
    way(case)
    return time.perf_counter() - wall, time.process_time() - cpu


def check(case: Case, ways: dict[str, Callable[[Case], pa.Table]]) -> None:
    """See that all find the same."""
    answers = {name: way(case) for name, way in ways.items()}
    for name, answer in answers.items():
        plain = pa.table({column: answer[column] for column in answer.column_names})
        if not plain.cast(answers["muntin"].schema).equals(answers["muntin"]):
            raise RuntimeError(f"{case.name}: {name} finds other windows than muntin")


def main() -> None:
    """Compare, time, and print."""
    options = argparse.ArgumentParser(prog="benchmarks.lookups", description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="of 10 million events")
    options.add_argument("--runs", type=int, default=RUNS)
    options.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="where events are kept (benchmarks/data)")
    asked = options.parse_args()
    shown = Table("windows", "way", "who", "wall s", "CPU s", "wall, ours / theirs", title=f"{ROWS:,} rows looked up; asked: at most 1.0")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder), asked.data, asked.scale):
            for way, ways in WAYS.items():
                check(case, ways)
                told: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
                for _ in range(asked.runs):
                    for name, each in ways.items():
                        told[name].append(timed(each, case))
                medians = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in told.items()}
                for name, (wall, cpu) in medians.items():
                    shown.add_row(case.name, way, name, f"{wall:.2f}", f"{cpu:.2f}", f"{medians['muntin'][0] / wall:.2f}")
    Console(width=100).print(shown)


if __name__ == "__main__":
    main()
