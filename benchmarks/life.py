"""`python -m benchmarks.life`: what a batch costs after a long history.

A history of N minutes is run in bulk, and the logs of its tables get a commit a batch, as if it had been run one by one. In a new process,
50 more minutes follow one by one; then some minutes in the middle are replaced by other rows, in some the values of rows are corrected, and
some minutes that were missing arrive.
Printed for each N: CPU and wall seconds a batch (the median; of CPU the mean too, which holds checkpoints), bytes written a batch, files,
and the peak of memory of the new process. Spark is left out: its tasks run in this process, so that the CPU is our own.
Which limits do not hold is printed behind it (`benchmarks.life_limits`), and the command ends with 1.
`--windows long`: see `benchmarks.long_windows`. `--mirror`: windows are mirrored in Iceberg, in a catalog on SQLite; the last batches of
the history are run one by one then, so that a long history has as many snapshots as are kept.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.life_limits import broken
from benchmarks.long_logs import lengthen
from benchmarks.long_windows import long_windows
from muntin import Pipeline, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.extensions.iceberg.mirrors.mirror import MOST_SNAPSHOTS
from muntin.sinks.declaration import Declared as Sink
from muntin.tasks import Local

START, MINUTE, DAY = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1), timedelta(days=1)
EVENTS, KEYS, MORE, REPLACED, CORRECTED, MISSING = 20, 5, 50, 9, 9, 9
WINDOWS: Mapping[str, Mapping[str, Any]] = {
    "three": {"tumbling": windows.tumbling("5m"), "sliding": windows.sliding("10m", step="1m"), "session": windows.session("2m")},
    "clock": {"tumbling": windows.tumbling("5m"), "sliding": windows.sliding("10m", step="1m")},
    "arrival": {"arrival": windows.arrival(windows.by_count(7))},
    "all_time": {"all_time": windows.all_time()},
    "unique": {"unique": windows.unique_sliding("2m")},
    "visits": {"session": windows.session("30s")},  # which end; those of "three" last for thousands of minutes
}
STACKED = "over_windows"
LONG = "long"
T = TypeVar("T")


def write_events(folder: Path, minutes: range, seed: int = 0, more: float = 0.0) -> None:
    """A file for each minute. `seed`: other rows; `more`: the same rows with other values."""
    folder.mkdir(parents=True, exist_ok=True)
    for minute in minutes:
        dice = np.random.default_rng((seed, minute))
        at = START + minute * MINUTE
        times = int(at.timestamp()) * 1_000_000 + np.sort(dice.integers(0, 59_000_000, EVENTS))
        keys, values = dice.integers(0, KEYS, EVENTS), dice.random(EVENTS) + more
        columns = {"at": pa.array(times).cast(pa.timestamp("us", tz="UTC")), "k": keys, "v": values}
        pq.write_table(pa.table(columns), folder / f"{at:%Y%m%dT%H%M}.parquet")


def definition(folder: Path, kinds: Mapping[str, Any], to: Sink | Sequence[Sink] = ()) -> Pipeline:
    """A pipeline over the files in a folder."""
    return Pipeline(
        name="life",
        source=sources.files(str(folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="at"),
        schedule="1m",
        start=START,
        keys=["k"],
        windows=kinds,
        aggregates={"n": agg.count(), "total": agg.sum("v")},
        to=to,
    )


def over(upstream: Pipeline) -> Pipeline:
    """A pipeline over the windows of another."""
    return Pipeline(
        name="over",
        source=sources.windows(upstream, "tumbling"),
        schedule="1m",
        start=START,
        keys=["k"],
        windows={"hours": windows.tumbling("1h")},
        aggregates={"n": agg.sum("n"), "most": agg.max("total")},
    )


@dataclass(frozen=True)
class Life:
    """A history of so many minutes below a folder, under the windows of a name."""

    folder: Path
    name: str
    history: int
    mirror: bool = False

    def live(self) -> dict[str, float]:
        """The history in bulk, then what comes after it, each in a process of its own: one that made a long history stays slower."""
        write_events(self.folder / "data", range(self.history + MORE + 2 * MISSING))
        bulk = apart(self.begin)
        lengthen(self.root, self.bulk, DAY // MINUTE)
        return {"bulk_ms_a_batch": 1000 * bulk / self.bulk, **apart(self.go_on)}

    def begin(self) -> float:
        """Run the history in bulk; CPU seconds."""
        return self.run(0, self.bulk)[0]

    def go_on(self) -> dict[str, float]:
        """`MORE` batches one by one, replaced batches and missing ones."""
        last, middle = self.history + MORE, self.history // 2
        for minute in range(self.bulk, self.history):
            self.run(minute, minute + 1)
        before = size(self.root)
        each = [self.run(minute, minute + 1) for minute in range(self.history, last)]
        written = size(self.root) - before
        corrected = [self.replace(minute, more=1.0) for minute in range(middle + 3, middle + 3 + 7 * CORRECTED, 7)]
        replaced = [self.replace(minute, seed=1) for minute in range(middle, middle + 7 * REPLACED, 7)]
        missing = [self.fill(minute) for minute in range(last, last + 2 * MISSING, 2)]
        return {
            "cpu_s": statistics.median(cpu for cpu, _ in each),
            "mean_cpu_s": statistics.mean(cpu for cpu, _ in each),
            "wall_s": statistics.median(wall for _, wall in each),
            "replaced_cpu_s": statistics.median(replaced),
            "corrected_cpu_s": statistics.median(corrected),
            "missing_cpu_s": statistics.median(missing),
            "kb_a_batch": written / MORE / 1024,
            "files": sum(1 for path in self.root.rglob("*") if path.is_file()),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }

    def replace(self, minute: int, seed: int = 0, more: float = 0.0) -> float:
        """Other rows in a minute, or other values; CPU seconds."""
        write_events(self.folder / "data", range(minute, minute + 1), seed, more)
        return self.run(minute, minute + 1)[0]

    def fill(self, minute: int) -> float:
        """A minute after the one behind it; CPU seconds. Windows over windows go by time: an upstream with a hole has nothing to read."""
        order = (minute, minute + 1) if self.name == STACKED else (minute + 1, minute)
        return {each: self.run(each, each + 1)[0] for each in order}[minute]

    def run(self, first: int, end: int) -> tuple[float, float]:
        """Run some minutes; CPU and wall seconds, of windows over windows those of the upper pipeline."""
        os.environ["PYICEBERG_CATALOG__LAKE__URI"] = f"sqlite:///{self.folder}/lake.db"
        to = sinks.iceberg("lake", "life.{window}") if self.mirror and end > self.bulk else ()
        below = definition(self.folder, WINDOWS.get(self.name, WINDOWS["three"]), to)
        found = once(below, self.root, first, end)
        return once(over(below), self.root, first, end) if self.name == STACKED else found

    @property
    def bulk(self) -> int:
        """So many minutes of the history are run in bulk."""
        return self.history - min(self.history // 2, MOST_SNAPSHOTS) if self.mirror else self.history

    @property
    def root(self) -> Path:
        """Of the state."""
        return self.folder / "state"


def apart(call: Callable[..., T], *arguments: object) -> T:
    """Call it in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(call, *arguments).result()


def once(pipeline: Pipeline, root: Path, first: int, end: int) -> tuple[float, float]:
    """Run some minutes; CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    run(pipeline, root=root, start=START + first * MINUTE, end=START + end * MINUTE, spark=Local(1))
    return time.process_time() - cpu, time.perf_counter() - wall


def size(root: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def show_long_windows() -> None:
    """Print a row for each size of windows."""
    with tempfile.TemporaryDirectory() as folder:
        found = long_windows(Path(folder))
    least = next(iter(found.values()))["cpu_s"]
    table = Table("windows", "to 10m", title="What a one-minute batch of 1,000 keys costs under long windows")
    for column in next(iter(found.values())):
        table.add_column(column, justify="right")
    for size, figures in found.items():
        table.add_row(size, f"{figures['cpu_s'] / least:.2f}", *(f"{value:,.3f}" for value in figures.values()))
    Console(width=150).print(table)


def main() -> int:
    """Print a row for each set of windows and each length of history; 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.life", description=__doc__)
    parser.add_argument("--histories", nargs="+", type=int, default=[100, 1_000, 10_000])
    parser.add_argument("--windows", nargs="+", choices=[*WINDOWS, STACKED, LONG], default=[*WINDOWS, STACKED])
    parser.add_argument("--mirror", action="store_true")
    asked = parser.parse_args()
    if LONG in asked.windows:
        show_long_windows()
        asked.windows.remove(LONG)
    if not asked.windows:
        return 0
    table = Table("windows", "history", title="What a batch costs after a long history")
    figures = []
    for name in asked.windows:
        for history in asked.histories:
            with tempfile.TemporaryDirectory() as folder:
                found = Life(Path(folder), name, history, asked.mirror).live()
            figures.append((name, history, found))
            print(f"{name} after {history}: {found['cpu_s']:.3f} s of CPU a batch", file=sys.stderr)  # the whole table is long in coming
    for column in figures[0][2]:
        table.add_column(column, justify="right")
    for name, history, found in figures:
        table.add_row(name, str(history), *(f"{value:,.3f}" for value in found.values()))
    console = Console(width=150)
    console.print(table)
    lines = broken(figures)
    for line in lines:
        console.print(line, highlight=False)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
