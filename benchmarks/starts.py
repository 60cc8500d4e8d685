"""`python -m benchmarks.starts`: what a person waits for, in fresh processes: from a command to published windows.

A day of flights (694 rows) with its suite, looks at it, and W1 (10 million events, 100-second windows each second), each as a whole
process beside another one: Python that imports the libraries that the work stands on, or the best script of DuckDB and of Polars. They
take turns; results are compared first. The median of the CPU seconds of each, with those of all that it starts, and the largest memory.
"""

import argparse
import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.comparison import differences
from benchmarks.events import event_files
from benchmarks.reference import reference
from benchmarks.workloads import SLIDING
from examples.flights_log import write_flights_log
from muntin import read
from muntin.testing import pipeline_of

PROJECT = Path(__file__).parents[1]
IMPORTS = (sys.executable, "-c", "import pyarrow, duckdb, numba, deltalake")
IMPORTS_OF_SUITES = (*IMPORTS[:-1], f"{IMPORTS[-1]}, great_expectations")
MUNTIN = (sys.executable, "-m", "muntin")
PEER = """
import sys
from pathlib import Path
from benchmarks.peers.{0} import write_windows
out = Path(sys.argv[1])
out.mkdir()
write_windows([*map(Path, sys.argv[2:])], out)
"""
STARTER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, done.stderr]))
"""
DAY = ("--start", "2013-01-01", "--end", "2013-01-02")
W1 = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sources, windows

pipeline = Pipeline(
    name="w1",
    source=sources.files("{folder}/*.parquet", event_time="t", all_files=True),
    schedule="2h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["key"],
    windows={{"windows": windows.sliding("100s", step="1s")}},
    aggregates={{"n": agg.count(), "sum_a": agg.sum("a"), "sum_b": agg.sum("b"), "min_b": agg.min("b"), "max_b": agg.max("b")}},
)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A whole process: its CPU seconds, and its largest memory in MB."""

    cpu_s: float
    peak_mb: float


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """A command of ours beside another one."""

    name: str
    ours: Sequence[str]
    beside: str
    other: Sequence[str]
    fresh: tuple[Path, ...] = ()
    """Folders that are removed before each run of either."""


def measured(command: Sequence[str], fresh: Sequence[Path], folder: Path) -> Measured:
    """Run a command to its end in a folder. A small process starts it: Linux counts to a process the memory of the one that started it."""
    for each in fresh:
        shutil.rmtree(each, ignore_errors=True)
    starter = [sys.executable, "-S", "-c", STARTER, *command]
    told = subprocess.run(starter, cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(PROJECT)}, check=True)
    status, cpu_s, peak_kb, said = json.loads(told.stdout)
    if status:
        raise RuntimeError(f"{' '.join(command)}: {said}")
    return Measured(cpu_s, peak_kb / 1024)


def flights(folder: Path) -> Path:
    """The project of the flights, in a folder; its definition."""
    write_flights_log(folder / "data/flights")
    for name in ("dags", "expectations"):
        shutil.copytree(PROJECT / name, folder / name)
    return folder / "dags/flights.py"


def check_flights(definition: Path, folder: Path) -> None:
    """See that a run in the process publishes what a run on Spark does, to the bit."""
    roots = [folder / "process", folder / "spark"]
    for root, more in zip(roots, ((), ("--spark", "local[*]")), strict=True):
        measured([*MUNTIN, "run", str(definition), "--root", str(root), *DAY, *more], [], folder)
    pipeline = pipeline_of(definition)
    for window in pipeline.windows:
        here, there = (read(pipeline, window, root=root, provisional=True) for root in roots)
        if not here.equals(there):
            raise RuntimeError(f"{window}: the process publishes other windows than Spark")


def of_flights(folder: Path) -> list[Work]:
    """The day of flights, and looks at it."""
    definition = flights(folder)
    file = str(definition)
    check_flights(definition, folder)
    root = folder / "process"
    looks = {
        "show": ("show", file, "last_6_hours"),
        "status": ("status", file),
        "plan": ("plan", file, *DAY),
    }
    run = (*MUNTIN, "run", file, "--root", str(folder / "state"), *DAY)
    beside = "its imports"
    return [
        Work("muntin run", (*run, "--no-validate"), beside, IMPORTS, (folder / "state",)),
        Work("muntin run, its suite", run, beside, IMPORTS_OF_SUITES, (folder / "state",)),
        *(Work(f"muntin {name}", (*MUNTIN, *words, "--root", str(root)), beside, IMPORTS) for name, words in looks.items()),
    ]


def of_w1(folder: Path, data: Path, scale: float) -> list[Work]:
    """W1 from files to published windows, beside the best scripts of others."""
    work = SLIDING.scaled(scale)
    files = [str(file) for file in event_files(work, data)]
    definition, root, out = folder / "w1.py", folder / "w1", folder / "out"
    definition.write_text(W1.format(folder=Path(files[0]).parent), encoding="utf-8")
    start, end = "2024-01-01", "2024-01-01T02:00"
    ours = (*MUNTIN, "run", str(definition), "--root", str(root), "--start", start, "--end", end)
    peers = {"DuckDB": "duckdb_sliding", "Polars": "polars_sliding"}
    works = [
        Work(
            f"W1, beside {name}",
            ours,
            f"{name}'s best script",
            (sys.executable, "-c", PEER.format(module), str(out), *files),
            (root, out),
        )
        for name, module in peers.items()
    ]
    expected = reference(work, event_files(work, data))
    for each in works:
        measured(each.ours, each.fresh, folder)
        _check("Muntin", read(pipeline_of(definition), "windows", root=root), expected)
        measured(each.other, each.fresh, folder)
        _check(each.beside, pq.read_table(out), expected)
    return works


def _check(who: str, windows: pa.Table, expected: dict[str, object]) -> None:
    if wrong := differences(windows, expected):  # type: ignore[arg-type]
        raise RuntimeError(f"{who}: {'; '.join(wrong)}")


def turns(share: float, runs: int, data: Path) -> dict[Work, tuple[list[Measured], list[Measured]]]:
    """Each work and what it is beside, in turns, once more than counts. `share`: of W1's keys."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        works = [*of_flights(folder), *of_w1(folder, data.absolute(), share)]
        pairs = {
            work: [[measured(command, work.fresh, folder) for command in (work.ours, work.other)] for _ in range(runs + 1)]
            for work in works
        }
    return {work: ([ours for ours, _ in found[1:]], [other for _, other in found[1:]]) for work, found in pairs.items()}


def ratios(share: float, runs: int, data: Path) -> dict[str, float]:
    """Our CPU seconds to those of the other, by work; and the peak memory of W1 to DuckDB's."""
    found = turns(share, runs, data)
    peaks = {work.name: max(each.peak_mb for each in ours) / max(each.peak_mb for each in others) for work, (ours, others) in found.items()}
    return {work.name: cpu_s(ours) / cpu_s(others) for work, (ours, others) in found.items()} | {
        "W1, peak memory": peaks["W1, beside DuckDB"]
    }


def cpu_s(processes: Sequence[Measured]) -> float:
    """The median."""
    return statistics.median(each.cpu_s for each in processes)


def main() -> None:
    """Print a row for each work."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes of each (5), after one that warms up")
    parser.add_argument("--scale", type=float, default=1.0, help="share of W1's keys, and so of its events (1)")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="where events are kept (benchmarks/data)")
    asked = parser.parse_args()
    table = Table("what", "CPU s", "MB", "beside", "CPU s", "MB", "times", title="Whole processes, from the command to the end")
    for work, (ours, others) in turns(asked.scale, asked.runs, asked.data).items():
        mine, other = cpu_s(ours), cpu_s(others)
        peak, other_peak = (f"{max(each.peak_mb for each in some):,.0f}" for some in (ours, others))
        table.add_row(work.name, f"{mine:.2f}", peak, work.beside, f"{other:.2f}", other_peak, f"{mine / other:.2f}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
