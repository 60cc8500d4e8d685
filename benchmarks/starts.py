"""`python -m benchmarks.starts`: what a run costs beside the work on its events, in a fresh process and in a warm session.

Batches of 200 rows of CSV, a tumbling window, four aggregates. Fresh: `muntin run` of one batch, from the start of the process to its
end, with its CPU seconds and those of all that it starts. Warm: one batch after the other in one session; the seconds of a run, and
those of it that are outside of Spark's jobs. The median, and the least. Promised: 8 seconds, and 0.25 outside of Spark's jobs.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.cpu import Cpu
from muntin import read, run
from muntin.cli.definition import load_pipeline
from muntin.spark import tasks
from muntin.spark.spark_session import session_or_local

START, DAY, ROWS, WARM_UP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1), 200, 3
DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

pipeline = Pipeline(
    name="starts", source=sources.files("{folder}/data/{{start:%Y-%m-%d}}.csv", event_time="at"), schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC), keys=["key"], windows={{"days": windows.tumbling("1d")}},
    aggregates={{"n": agg.count(), "total": agg.sum("value"), "least": agg.min("value"), "most": agg.max("value")}},
)
"""
Seconds = tuple[float, float]


def make_project(folder: Path, days: int) -> Path:
    """A definition, and a file of events for each day."""
    (folder / "data").mkdir(parents=True)
    (folder / "dags").mkdir()
    for day in range(days):
        at, dice = START + day * DAY, np.random.default_rng(day)
        seconds, keys, values = np.sort(dice.integers(0, 86_400, ROWS)), dice.integers(0, 10, ROWS), dice.random(ROWS)
        lines = [f"{at + timedelta(seconds=int(s)):%Y-%m-%dT%H:%M:%SZ},{k},{v}" for s, k, v in zip(seconds, keys, values, strict=True)]
        (folder / f"data/{at:%Y-%m-%d}.csv").write_text("\n".join(["at,key,value", *lines]), encoding="utf-8")
    definition = folder / "dags/starts.py"
    definition.write_text(DEFINITION.format(folder=folder), encoding="utf-8")
    return definition


def fresh(definition: Path, root: Path) -> Seconds:
    """Run the first batch in a process of its own; seconds, and CPU seconds."""
    command = [
        sys.executable,
        "-c",
        "import sys; from muntin.cli.main import main; sys.exit(main())",
        "run",
        str(definition),
        "--root",
        str(root),
    ]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--start", f"{START:%Y-%m-%d}", "--end", f"{START + DAY:%Y-%m-%d}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    cpu = Cpu([process.pid])
    if process.wait():
        raise RuntimeError(f"{command}: exit status {process.returncode}")
    return time.perf_counter() - begun, cpu.stop()


def warm(definition: Path, root: Path, runs: int) -> list[Seconds]:
    """Run batches one after the other in one session; seconds of a run, and those of it that are outside of Spark's jobs."""
    pipeline, found = load_pipeline(definition), list[Seconds]()
    with session_or_local(None) as spark:
        for day in range(WARM_UP + runs):
            begun = time.perf_counter()
            with in_jobs() as jobs:
                run(pipeline, root=root, start=START + day * DAY, end=START + (day + 1) * DAY, spark=spark)
            wall = time.perf_counter() - begun
            found.append((wall, wall - sum(jobs)))
    counted = sum(read(pipeline, "days", root=root)["n"].to_pylist())
    if counted < ROWS * (runs + WARM_UP - 1):
        raise RuntimeError(f"{counted} rows are in windows")
    return found[WARM_UP:]


@contextmanager
def in_jobs() -> Iterator[list[float]]:
    """The seconds of each Spark job that is run meanwhile."""
    jobs, job = list[float](), tasks._with_context  # noqa: SLF001 - where all jobs go through

    def measured(*given: object) -> list[str]:
        begun = time.perf_counter()
        try:
            return job(*given)  # type: ignore[arg-type]
        finally:
            jobs.append(time.perf_counter() - begun)

    with mock.patch.object(tasks, "_with_context", measured):
        yield jobs


def main() -> None:
    """Print a row for the fresh process and one for the warm session."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="fresh processes (5); three times as many warm runs")
    asked = parser.parse_args()
    table = Table("a run", "s", "least s", "of which", "s", "least s", title="What a run costs beside the work on its events")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        definition = make_project(folder, WARM_UP + 3 * asked.runs)
        cold = [fresh(definition, folder / f"fresh-{number}") for number in range(asked.runs + 1)][1:]
        again = warm(definition, folder / "warm", 3 * asked.runs)
    for name, part, found in (("of a fresh process", "CPU", cold), ("in a warm session", "outside of Spark's jobs", again)):
        whole, of_it = zip(*found, strict=True)
        table.add_row(name, *_figures(whole), part, *_figures(of_it))
    Console(width=120).print(table)


def _figures(seconds: tuple[float, ...]) -> tuple[str, str]:
    return f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f}"


if __name__ == "__main__":
    main()
