"""`python -m benchmarks.memory 10 30 100`: the memory of a task, for batches of so many million events.

A batch is an hour of events of a million keys, in files of a million events; its windows are of ten minutes, and of half an hour every
ten minutes. Printed for each size: seconds, the peak of a task of accumulate and of finalize, and that of Spark's Java. A task is a process
of Python, whose peak the kernel keeps (`VmHWM`); it is set back between the steps. With `--limit 1g` Spark lets no task have more.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from pipelines import Pipeline, run, sources, windows
from pipelines import aggregates as agg
from pipelines.spark.spark_session import LOCAL, prepare

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


def children(name: str) -> Iterator[psutil.Process]:
    """The processes below this one that run a program."""
    for each in psutil.Process().children(recursive=True):
        if name in each.name():
            yield each


def peak_mb(name: str) -> float:
    """The largest memory of any of them, since it was set back last."""
    found = (Path(f"/proc/{each.pid}/status").read_text(encoding="ascii") for each in children(name))
    return max((int(text.partition("VmHWM:")[2].split()[0]) / 1024 for text in found), default=0)


def set_back() -> None:
    """Begin to measure anew."""
    for each in children("python"):
        Path(f"/proc/{each.pid}/clear_refs").write_text("5", encoding="ascii")


def measured(millions: int, keys: int, data: Path, spark: SparkSession) -> tuple[str, ...]:
    """A row of the table."""
    write_events(data / f"{millions}", millions, keys)
    peaks: list[float] = []

    def step(_: str) -> None:
        peaks.append(peak_mb("python"))
        set_back()

    with tempfile.TemporaryDirectory(dir=data) as root:
        before = time.monotonic()
        report = run(definition(data / f"{millions}"), root=root, start=START, end=START + 2 * HOUR, spark=spark, progress=step)
        seconds = time.monotonic() - before
    if sum(batch.rows_accepted for batch in report.batches) != millions * MILLION:
        raise SystemExit(f"{report}: not every event was read")
    return f"{millions}", f"{seconds:.0f}", f"{peaks[1]:.0f}", f"{peaks[2]:.0f}", f"{peak_mb('java'):.0f}"


def main() -> None:
    """Print the table, a row as soon as it is known."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("millions", nargs="+", type=int, metavar="MILLIONS", help="events of a batch")
    asked.add_argument("--keys", type=int, default=MILLION, help="how many keys there are")
    asked.add_argument("--limit", default="", help="what a task may have, as 1g")
    asked.add_argument("--data", type=Path, default=Path("benchmarks/data/memory"), help="where the events are kept")
    given = asked.parse_args()
    spark, console = session(given.limit), Console()
    for millions in given.millions:
        table = Table(*COLUMNS)
        table.add_row(*measured(millions, given.keys, given.data.absolute(), spark))
        console.print(table)


if __name__ == "__main__":
    main()
