"""What values that last cost: `carry=` beside the same aggregate without it, over W1's events. `python -m benchmarks.lasting`.

Tumbling windows of a second, in turns; results compared with DuckDB's first. CPU seconds of all threads. Prints a table.
"""

import argparse
import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console

from benchmarks import report
from benchmarks.events import event_files
from benchmarks.workloads import EPOCH, SECOND_US, SLIDING
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.tasks import Local

CARRY = "1m"
ASKED: dict[str, tuple[Aggregate, Aggregate]] = {
    "last": (agg.last("b", ignore_nulls=True), agg.last("b", carry=CARRY)),
    "time_weighted_mean": (agg.time_weighted_mean("b"), agg.time_weighted_mean("b", carry=CARRY)),
    "integral": (agg.integral("b"), agg.integral("b", carry=CARRY)),
}
LIMIT = 2.0


def pipeline(files: list[Path], aggregate: Aggregate, *, dense: bool = False) -> Pipeline:
    """One batch of an hour and more."""
    source = sources.files(str(files[0].parent / "*.parquet"), event_time="t", all_files=True)
    kinds = {"w": windows.tumbling("1s", dense=dense)}
    return Pipeline(name="p", source=source, schedule="2h", start=EPOCH, keys=["key"], windows=kinds, aggregates={"a": aggregate})


def spent(made: Pipeline, root: str) -> float:
    """CPU seconds of a run into a fresh folder."""
    begun = time.process_time()
    run(made, root=root, start=EPOCH, end=EPOCH + timedelta(hours=2), spark=Local(2))
    return time.process_time() - begun


def truth(files: list[Path]) -> pa.Table:
    """The integral of every window with events, by joining each event's time until the next with the seconds that it lasts over."""
    return duckdb.sql(f"""
        WITH events AS (FROM read_parquet('{files[0].parent}/*.parquet', filename = true, file_row_number = true)),
        held AS (
            SELECT key, epoch_us(t) AS begin, b,
                coalesce(lead(epoch_us(t)) OVER (PARTITION BY key ORDER BY t, filename, file_row_number), {2**60}) AS until
            FROM events
        ),
        pieces AS (
            SELECT key, begin, until, b,
                unnest(range(begin // {SECOND_US}, least(until - 1, begin + 60 * {SECOND_US}) // {SECOND_US} + 1)) AS w
            FROM held WHERE until > begin
        )
        SELECT key, w, sum(b * (least(until, (w + 1) * {SECOND_US}) - greatest(begin, w * {SECOND_US})) / 1e6) AS a
        FROM pieces SEMI JOIN (SELECT key, epoch_us(t) // {SECOND_US} AS w FROM events) USING (key, w) GROUP BY ALL ORDER BY key, w
    """).to_arrow_table()


def compared(files: list[Path]) -> int:
    """The number of windows, when all integrals are those of DuckDB."""
    with tempfile.TemporaryDirectory() as root:
        made = pipeline(files, ASKED["integral"][1])
        spent(made, root)
        found, wanted = read(made, "w", root=root, columns=["key", "window_start", "a"]), truth(files)
    np.testing.assert_allclose(found["a"].to_numpy(), wanted["a"].to_numpy(), rtol=1e-9)
    return len(found)


def main() -> None:
    """Compare, measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--scale", type=float, default=1.0, help="share of W1's keys, and so of its events (1)")
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--data", type=Path, default=Path("benchmarks/data"))
    given = asked.parse_args()
    work = SLIDING.scaled(given.scale)
    files, lines = event_files(work, given.data), []
    count = compared(files)
    for name, both in ASKED.items():
        seconds: list[list[float]] = [[], [], []]
        for _ in range(given.runs):
            for at, aggregate in enumerate((*both, both[1])):
                with tempfile.TemporaryDirectory() as root:
                    seconds[at].append(spent(pipeline(files, aggregate, dense=at == 2), root))
        without, lasting, dense = map(statistics.median, seconds)
        lines.append([name, f"{without:.2f}", f"{lasting:.2f}", f"{dense:.2f}", f"{lasting / without:.2f}"])
    report.show(
        f"values that last, {work.events:,} events, {count:,} windows; at most {LIMIT} times",
        ["aggregate", "CPU s", "with carry", "and dense", "times"],
        lines,
        Console(width=120),
    )


if __name__ == "__main__":
    main()
