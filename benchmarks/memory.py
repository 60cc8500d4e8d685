"""`python -m benchmarks.memory 10 30 100`: the memory of a task, for batches of so many million events.

A batch is an hour of events of a million keys, in files of a million events; its windows are of ten minutes, and of half an hour every
ten minutes. Printed for each size: seconds, the peak of a task of accumulate and of finalize, and that of Spark's Java. A task is a process
of Python, whose peak the kernel keeps (`VmHWM`); it is set back between the steps. With `--limit 1g` Spark lets no task have more.
`--worker`: on a standalone worker of one core with little Java, whose processes give memory back; and what an executor and its task take
together, counting once what they share. `--cgroup FOLDER`: a memory cgroup of the kernel, made beforehand with a limit, for the worker
and all that it starts, its own Java too: who takes more is killed.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.memory_of_a_worker import Together, a_worker, executors
from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.spark.session import LOCAL, prepare
from tests.cluster.standalone import Cluster

START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
MILLION = 1_000_000
COLUMNS = ("million events", "seconds", "accumulate MB", "finalize MB", "Java MB")


def write_events(folder: Path, files: int, keys: int) -> None:
    """Files of a million events each, in the order of time; those that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        place = folder / f"{number:04d}.parquet"
        if not place.exists():
            dice = np.random.default_rng((keys, number))
            first, length = int(START.timestamp()) * MILLION, 3600 * MILLION
            at = first + np.sort(dice.integers(number * length // files, (number + 1) * length // files, MILLION))
            columns = {
                "at": pa.array(at).cast(pa.timestamp("us", tz="UTC")),
                "k": dice.integers(0, keys, MILLION),
                "v": dice.random(MILLION),
            }
            pq.write_table(pa.table(columns), place)


def definition(data: Path) -> Pipeline:
    """A pipeline over all files as one batch; grace lets the batch close its own windows."""
    return Pipeline(
        name="memory",
        source=sources.files(str(data / "*.parquet"), event_time="at", all_files=True),
        schedule=2 * HOUR,
        start=START,
        keys=["k"],
        windows={"ten": windows.tumbling("10m"), "half": windows.sliding("30m", step="10m")},
        aggregates={"n": agg.count(), "total": agg.sum("v"), "most": agg.max("v")},
    )


def session(limit: str) -> SparkSession:
    """Two tasks at once."""
    prepare()
    builder = SparkSession.builder.master("local[2]").appName("memory").config(map=dict(LOCAL))
    return (builder.config("spark.executor.pyspark.memory", limit) if limit else builder).getOrCreate()


def peak_mb(name: str, processes: Iterable[psutil.Process]) -> float:
    """The largest memory of any process that runs a program, since it was set back last."""
    found = (Path(f"/proc/{each.pid}/status").read_text(encoding="ascii") for each in processes if name in each.name())
    return max((int(text.partition("VmHWM:")[2].split()[0]) / 1024 for text in found), default=0)


def set_back(processes: Iterable[psutil.Process]) -> None:
    """Begin to measure anew."""
    for each in processes:
        if "python" in each.name():
            Path(f"/proc/{each.pid}/clear_refs").write_text("5", encoding="ascii")


def measured(millions: int, keys: int, data: Path, spark: SparkSession, cluster: Cluster | None) -> tuple[str, ...]:
    """A row of the table."""
    write_events(data / f"{millions}", millions, keys)
    peaks: list[float] = []

    def processes() -> list[psutil.Process]:
        return executors(cluster) if cluster else psutil.Process().children(recursive=True)

    def step(_: str) -> None:
        peaks.append(peak_mb("python", processes()))
        set_back(processes())

    together = Together(cluster) if cluster else None
    if together:
        together.start()
    with tempfile.TemporaryDirectory(dir=data) as root:
        before = time.monotonic()
        report = run(definition(data / f"{millions}"), root=root, start=START, end=START + 2 * HOUR, spark=spark, progress=step)
        seconds = time.monotonic() - before
    if sum(batch.rows_accepted for batch in report.batches) != millions * MILLION:
        raise SystemExit(f"{report}: not every event was read")
    row = (f"{millions}", f"{seconds:.0f}", f"{peaks[1]:.0f}", f"{peaks[2]:.0f}", f"{peak_mb('java', processes()):.0f}")
    if not together:
        return row
    together.ended.set()
    together.join()
    return (*row, f"{together.most_mb:.0f}")


def main() -> None:
    """Print the table, a row as soon as it is known."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("millions", nargs="+", type=int, metavar="MILLIONS", help="events of a batch")
    asked.add_argument("--keys", type=int, default=MILLION, help="how many keys there are")
    asked.add_argument("--limit", default="", help="what a task may have, as 1g")
    asked.add_argument("--data", type=Path, default=Path("benchmarks/data/memory"), help="where the events are kept")
    asked.add_argument("--worker", action="store_true", help="on a standalone worker of one core with little Java")
    asked.add_argument("--cgroup", type=Path, help="a folder of a memory cgroup, for the worker")
    given, console = asked.parse_args(), Console()
    if given.cgroup and not given.worker:
        asked.error("--cgroup limits a worker: add --worker")
    with ExitStack() as around:
        cluster, spark = None, None
        if given.worker:
            cluster, spark = around.enter_context(a_worker(Path(around.enter_context(tempfile.TemporaryDirectory())), given.cgroup))
        for millions in given.millions:
            table = Table(*COLUMNS, *(["together MB"] if cluster else []))
            table.add_row(*measured(millions, given.keys, given.data.absolute(), spark or session(given.limit), cluster))
            console.print(table)


if __name__ == "__main__":
    main()
