"""`python -m benchmarks.deduplication`: what it costs to tell events apart, within a batch and across batches.

Events as of W1 with an id, in batches of a minute; of a hundred events one comes again, a minute later. All runs are in this process,
without Spark, so that CPU seconds are of the work alone. Published windows are compared: those without `dedupe` are of the events
without repeated rows.
"""

import argparse
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from benchmarks import report
from benchmarks.workloads import EPOCH
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.state.bound import bind
from muntin.store.paths import IDS
from muntin.tasks import Local

MINUTE = timedelta(minutes=1)
MINUTE_US = 60_000_000
KEYS, SEED, REPEATED = 1_000, 20_130_101, 0.01
HERE: Any = Local(1)
WAYS: dict[str, dict[str, Any]] = {
    "without dedupe, no row repeated": {},
    'dedupe="id"': {"rows": sources.events(dedupe="id")},
    'dedupe="id", within="1h"': {"rows": sources.events(dedupe="id", within="1h")},
}


def write(folder: Path, events: int, batches: int, *, repeated: bool) -> None:
    """A file for each batch; `repeated`: whether a hundredth of it comes again in the next."""
    random, count = np.random.default_rng(SEED), events // batches
    before: pa.Table | None = None
    for at in range(batches):
        t = int(EPOCH.timestamp()) * 10**6 + at * MINUTE_US + np.sort(random.integers(0, MINUTE_US, count))
        names = np.char.add("event-", (at * count + np.arange(count)).astype(str))
        new = pa.table(
            {"id": names, "t": t, "key": random.integers(0, KEYS, count), "a": random.integers(0, 1000, count), "b": random.random(count)}
        )
        again = [before.take(random.choice(count, int(count * REPEATED), replace=False))] if before is not None else []
        pq.write_table(pa.concat_tables([new, *(again if repeated else [])]), folder / file_of(at))
        before = new


def pipeline(folder: Path, how: dict[str, Any]) -> Pipeline:
    """The definition over the files of a folder."""
    named = f"{folder}/{{start:%H%M}}.parquet"
    return Pipeline(
        name="duplicates",
        source=sources.files(named, event_time=sources.at("t", unit="us"), **how),
        schedule=MINUTE,
        start=EPOCH,
        keys=["key"],
        windows={"windows": windows.sliding("100s", step="1s")},
        aggregates={"n": agg.count(), "sum_a": agg.sum("a"), "sum_b": agg.sum("b"), "min_b": agg.min("b"), "max_b": agg.max("b")},
    )


def file_of(at: int) -> str:
    """The name of a batch's file, which is the minute after midnight."""
    return f"{at // 60:02d}{at % 60:02d}.parquet"


def seconds(definition: Pipeline, root: Path, first: int, last: int) -> float:
    """CPU seconds of a run over batches first..last."""
    begun = time.process_time()
    run(definition, root=root, start=EPOCH + first * MINUTE, end=EPOCH + (last + 1) * MINUTE, spark=HERE)
    return time.process_time() - begun


def bytes_of(definition: Pipeline, root: Path, table: str) -> int:
    """Bytes of the files of a table."""
    return sum(file.size for file in bind(definition, root).store.snapshot(table).files)


def main() -> None:
    """Run what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deduplication", description=__doc__)
    parser.add_argument("--events", type=int, default=4_000_000, help="of all batches (4,000,000)")
    parser.add_argument("--batches", type=int, default=20, help="batches (20)")
    asked = parser.parse_args()
    lines, counts = [], set[int]()
    with tempfile.TemporaryDirectory() as place:
        for name, how in WAYS.items():
            folder = Path(place) / f"{len(lines)}"
            (folder / "data").mkdir(parents=True)
            write(folder / "data", asked.events, asked.batches, repeated=bool(how))
            definition, last = pipeline(folder / "data", how), asked.batches - 1
            seconds(definition, folder / "warm", 0, 0)
            bulk = seconds(definition, folder / "bulk", 0, last)
            seconds(definition, folder / "next", 0, last - 1)
            one = seconds(definition, folder / "next", last, last)
            tables = (bind(definition, folder / "bulk").frame_sets[0].table, IDS)
            sizes = [bytes_of(definition, folder / "bulk", table) / asked.events for table in tables]
            lines.append([name, f"{bulk:.1f}", f"{one:.2f}", *(f"{each:.1f}" for each in sizes)])
            counts.add(int(read(definition, "windows", root=folder / "bulk")["n"].to_numpy().sum()) if how != WAYS['dedupe="id"'] else 0)
    if len(counts - {0}) != 1:
        raise SystemExit(f"windows hold other numbers of events: {sorted(counts)}")
    title = f"{asked.events:,} events in {asked.batches} batches, {REPEATED:.0%} repeated"
    report.show(title, ["way", "all at once, CPU s", "one more batch, CPU s", "states, B/event", "ids, B/event"], lines, Console(width=140))


if __name__ == "__main__":
    main()
