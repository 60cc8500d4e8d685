"""`python -m benchmarks.dimensions`: W1 with a look-up of 100,000 keys, beside W1 without, and DuckDB's `ASOF JOIN` with W1's windows.

All run in one process, in turns, and start from Parquet files: events, and a dimension with four versions of each key. Results are compared
first. The median of wall time and of CPU time of each, and how many times as many CPU seconds a run with a look-up takes. A process reads
the dimension once: before the first run that is measured. The figures of `docs/dimensions.md`.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.events import EPOCH_US, event_files
from benchmarks.peers.duckdb_sliding import STATES, WINDOWS
from benchmarks.workloads import EPOCH, SLIDING
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.states.columns import INSTANT
from muntin.tasks import Local

ITEMS, VERSIONS, LENGTH = 100_000, 4, timedelta(hours=8)
JOINED = (
    "(SELECT e.key, e.t, e.a * r.rate AS a, e.b FROM read_parquet(?) AS e "
    "ASOF LEFT JOIN read_parquet('{rates}') AS r ON e.item = r.item AND e.t >= r.since)"
)


def written(folder: Path, scale: float) -> int:
    """Write W1's events with an item each, and the rates of items: `events/*.parquet`, `rates.parquet`; the number of events."""
    work, dice = SLIDING.scaled(scale), np.random.default_rng(43)
    (folder / "events").mkdir()
    for file in event_files(work, folder / "data"):
        table = pq.read_table(file)
        pq.write_table(table.append_column("item", pa.array(dice.integers(0, ITEMS, len(table)))), folder / "events" / file.name)
    hours = work.duration_s * 1_000_000
    since = EPOCH_US - hours + np.sort(dice.integers(0, 2 * hours, (ITEMS, VERSIONS)), axis=1)
    rates = {"item": np.repeat(np.arange(ITEMS), VERSIONS), "since": pa.array(since.ravel()).cast(INSTANT)}
    pq.write_table(pa.table({**rates, "rate": dice.integers(1, 10, ITEMS * VERSIONS)}), folder / "rates.parquet")
    return work.events


def pipeline(folder: Path, *, looks_up: bool) -> Pipeline:
    """W1's windows; `looks_up`: of amounts times their rate."""
    rates = sources.lookup(sources.files(str(folder / "rates.parquet")), keys=["item"], since="since", columns=["rate"])
    sums = {"sum_a": agg.sum("a * rates.rate" if looks_up else "a"), "sum_b": agg.sum("b"), "min_b": agg.min("b"), "max_b": agg.max("b")}
    return Pipeline(
        name="looking_up" if looks_up else "plain",
        source=sources.files(f"{folder}/events/*.parquet", event_time="t", all_files=True),
        schedule=LENGTH,
        start=EPOCH,
        keys=["key"],
        lookups={"rates": rates} if looks_up else {},
        windows={"w": windows.sliding("100s", step="1s")},
        aggregates={"n": agg.count(), **sums},
    )


def ours(folder: Path, *, looks_up: bool) -> None:
    """A run from files to published windows."""
    shutil.rmtree(folder / "state", ignore_errors=True)
    run(pipeline(folder, looks_up=looks_up), root=folder / "state", start=EPOCH, end=EPOCH + LENGTH, spark=Local(2))


def peers(folder: Path) -> None:
    """The same by DuckDB."""
    shutil.rmtree(folder / "peer", ignore_errors=True)
    joined = JOINED.format(rates=folder / "rates.parquet")
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(STATES.replace("read_parquet(?)", joined), [[str(file) for file in (folder / "events").glob("*.parquet")]])
        connection.execute(WINDOWS.format(out=folder / "peer"))


def check(folder: Path) -> None:
    """End if the two have other windows."""
    ours(folder, looks_up=True)
    peers(folder)
    found = read(pipeline(folder, looks_up=True), "w", root=folder / "state")
    told = "SELECT count(*), sum(n), sum(sum_a), max(sum_a) FROM"
    with duckdb.connect() as connection:
        connection.register("found", found)
        both = [connection.execute(f"{told} {each} WHERE n > 0").fetchall() for each in ("found", f"'{folder}/peer/*.parquet'")]
    if both[0] != both[1]:
        sys.exit(f"Muntin and DuckDB differ: {both}")


def timed(what: Callable[[], None]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    what()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Print the medians."""
    options = argparse.ArgumentParser(prog="benchmarks.dimensions", description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="share of W1's keys, and so of its events (1)")
    options.add_argument("--runs", type=int, default=3)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(f"{written(folder, asked.scale):,} events")
        check(folder)
        works = {
            "without a look-up": lambda: ours(folder, looks_up=False),
            "with one": lambda: ours(folder, looks_up=True),
            "DuckDB, ASOF JOIN": lambda: peers(folder),
        }
        took = {name: [timed(work)] for name, work in works.items()}
        for _ in range(asked.runs - 1):
            for name, work in works.items():
                took[name].append(timed(work))
        medians = {name: [statistics.median(column) for column in zip(*each, strict=True)] for name, each in took.items()}
        _, looking_up, _ = medians.values()
        for name, (wall, cpu) in medians.items():
            print(f"{name:20} {wall:6.2f} s {cpu:6.2f} CPU s; with one: {looking_up[1] / cpu:.2f} times")


if __name__ == "__main__":
    main()
