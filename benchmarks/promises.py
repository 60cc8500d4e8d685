"""`python -m benchmarks.promises`: what was asked of Muntin, line by line, as a ratio to what ran beside it, and whether it is kept.

Ratios are of CPU seconds and of peak memory, each part in one run. What is not kept yet has the ratio that was recorded last, and must not
get a fifth worse. `--share 0.01` makes everything small, to see that each part runs: its figures say nothing.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from rich.console import Console

from benchmarks import airflow_runs, forgetting, reading, report, starts
from benchmarks.contestants import BY_NAME
from benchmarks.figures import Outcome
from benchmarks.measurement import BrokenRunError, alone, told
from benchmarks.nexmark import files
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.race import FIRST
from benchmarks.nexmark.race import Race as NexmarkRace
from benchmarks.race import Race

DATA = Path(__file__).parent / "data"
MORE = 1.2
"""What is not kept is at most so many times what is recorded."""
Ratios = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Promise:
    """A line: what is asked at most; what was recorded last where that is more, and why it is."""

    part: str
    line: str
    asked: float
    recorded: float = 0.0
    why: str = ""

    def verdict(self, ratio: float | None) -> str:
        """Whether a ratio keeps it; None: there is none."""
        if ratio is None:
            return "NOT MEASURED"
        if ratio <= self.asked:
            return "kept"
        if ratio <= MORE * self.recorded:
            return f"not kept, recorded at {self.recorded:g}: {self.why}"
        return f"NOT KEPT: {ratio:.2f} is more than {max(self.asked, MORE * self.recorded):.2f}"


@dataclass(frozen=True, slots=True)
class Size:
    """The share of all events, the rounds, and where events of works are kept."""

    share: float
    runs: int
    data: Path

    def of(self, whole: int, least: int = 1) -> int:
        """The share of a number."""
        return max(least, round(whole * self.share))


WORKS = ("ours-sliding", "duckdb-sliding", "polars-sliding", "ours-sessions", "polars-sessions")
KINDS = ("ours-counted", "ours-deltas", "ours-stretches", "ours-tumbling-counted")


def works(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Warm jobs on Spark, of a race that was run; nothing of contestants that did not take part."""
    cpu = {each.contestant.name: each.cpu_s for each in outcomes if each.measurements}
    pairs = {
        "W1 on Spark, to Polars": ("ours-sliding", "polars-sliding"),
        "W1 on Spark, to DuckDB": ("ours-sliding", "duckdb-sliding"),
        "W2 on Spark, to Polars": ("ours-sessions", "polars-sessions"),
        **{f"{BY_NAME[kind].workload.name}, to tumbling windows": (kind, KINDS[-1]) for kind in KINDS[:-1]},
    }
    ratios = {line: cpu[ours] / cpu[other] for line, (ours, other) in pairs.items() if {ours, other} <= cpu.keys()}
    peaks = [each.peak_mb / 1000 for each in outcomes if each.contestant.name == WORKS[0] and each.measurements]
    return ratios | dict.fromkeys(["W1 on Spark, peak, GB"] if peaks else [], max(peaks, default=0))


def _works(size: Size) -> Ratios:
    race = Race(size.data, size.share, print)
    return works(race.outcomes([BY_NAME[name] for name in (*WORKS, *KINDS)], size.runs))


def _airflow(size: Size) -> Ratios:
    runs, turns = size.of(7), min(size.runs, 2)
    executors = {"its own LocalExecutor": True, "our executor": False}
    return {
        line: airflow_runs.ratios(airflow_runs.measured(own=own, sparkless=True, runs=runs, turns=turns))[1]
        for line, own in executors.items()
    }


def _nexmark(size: Size) -> Ratios:
    cpu, peaks = _of_nexmark(size.of(10_000_000), "cpu_s"), _of_nexmark(size.of(2_000_000), "peak_mb")
    return {"CPU, geometric mean": geometric_mean(cpu), "CPU, worst": max(cpu), "peak memory, worst": max(peaks)}


def _of_nexmark(events: int, figure: str) -> list[float]:
    """Muntin to DuckDB, a ratio for each query, after their rows were compared."""
    ratios = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "data/nexmark")
        files.write(folder, events)
        race = NexmarkRace(folder, Path(place, "out"), print)
        for query in QUERIES:
            outcome = race.outcome(query, (FIRST, "muntin"), 1)
            ours, theirs = outcome.median("muntin", figure), outcome.median(FIRST, figure)
            if not ours or not theirs:
                raise BrokenRunError(f"{query}: {outcome.wrong}")
            ratios.append(ours / theirs)
    return ratios


def _batches(size: Size) -> Ratios:
    def after(batches: int, *queries: str) -> dict[str, dict[str, float]]:
        arguments = [*queries, "--batches", f"{size.of(batches, 10)}"]
        lines = told("benchmarks.nexmark.history", arguments, size.data / "last-run.log")
        return dict(zip(queries, lines, strict=True))

    ratios = {f"{query} after 200": found["more_cpu_s"] / found["files_cpu_s"] for query, found in after(200, "q5", "q7").items()}
    return ratios | {"q9 after 1,000, whose spans a table gives, CPU s": after(1000, "q9")["q9"]["more_cpu_s"]}


def _forgetting(size: Size) -> Ratios:
    return {"to reading the files": median(_forgotten(size) for _ in range(3))}


def _forgotten(size: Size) -> float:
    folder = Path(tempfile.mkdtemp())
    try:
        found = alone(forgetting.measured, folder, size.of(1000, 5), size.of(100_000, 100), 2000)
    finally:
        shutil.rmtree(folder)
    return float(found["forgetting"] / found["reading"])


PARTS: Mapping[str, tuple[str, Callable[[Size], Ratios]]] = {
    "start": ("benchmarks.starts", lambda size: starts.ratios(size.share, size.runs, size.data)),
    "works": ("benchmarks", _works),
    "airflow": ("benchmarks.airflow_runs --without-spark", _airflow),
    "nexmark": ("benchmarks.nexmark", _nexmark),
    "batches": ("benchmarks.nexmark.history", _batches),
    "text": ("benchmarks.reading", lambda size: reading.ratios(size.of(10_000_000))),
    "forgetting": ("benchmarks.forgetting", _forgetting),
}
"""Part -> the command that shows more of it, and what measures its lines."""
IMPORTS = "beside the libraries, a run imports 200 modules of Muntin and commits twice"
LOOKS = "typer imports pydantic, a command 170 modules of Muntin; then it reads the log and the sources' files"
ROWS = "each row is a state, since which window it falls into is not clear before finalize"
PROMISES = (
    Promise("start", "muntin run", 2.5, 2.6, IMPORTS),
    Promise("start", "muntin run, its suite", 1.3),
    Promise("start", "muntin status", 1.5),
    Promise("start", "muntin show", 1.5),
    Promise("start", "muntin plan", 1.5, 1.7, LOOKS),
    Promise("start", "W1, beside DuckDB", 1.0, 1.1, "a second of imports and commits, half a second of compiled kernels that are loaded"),
    Promise("start", "W1, beside Polars", 1.5, 1.9, "as beside DuckDB"),
    Promise("start", "W1, peak memory", 1.0, 1.5, "states of a batch are held beside the windows that are made of them"),
    Promise("works", "W1 on Spark, to Polars", 1.0, 1.1, "batches and windows are committed, Spark hands out tasks"),
    Promise("works", "W1 on Spark, to DuckDB", 0.5, 0.6, "as to Polars"),
    Promise("works", "W1 on Spark, peak, GB", 1.5, 2.3, "a part is Spark's Java, a part is two processes of tasks"),
    Promise("works", "W2 on Spark, to Polars", 1.2, 1.5, "states are sorted and written before windows are"),
    Promise("works", "W4, to tumbling windows", 1.5, 3.2, ROWS),
    Promise("works", "W6, to tumbling windows", 1.5, 2.9, ROWS),
    Promise("works", "W8, to tumbling windows", 1.5, 4.2, ROWS),
    Promise("airflow", "its own LocalExecutor", 2.5, 4.9, "each task is a process that imports all libraries"),
    Promise("airflow", "our executor", 1.2, 1.7, "a run reads, checks and commits; the empty task does nothing"),
    Promise("nexmark", "CPU, geometric mean", 2.0, 4.0, "states are computed, written and read, which an engine that forgets does not"),
    Promise("nexmark", "CPU, worst", 4.0, 10.2, "q8: two sources a run, each with its fixed work, beside 0.09 CPU s"),
    Promise("nexmark", "peak memory, worst", 2.0, 4.4, "150 MB are libraries that are imported, where DuckDB's whole process has 160"),
    Promise("batches", "q5 after 200", 2.0, 4.6, "a run's own commits, beside hundredths of a second"),
    Promise("batches", "q7 after 200", 1.0, 2.3, "as q5"),
    Promise("batches", "q9 after 1,000, whose spans a table gives, CPU s", 0.3, 0.8, "a run reads the whole table"),
    Promise("text", "csv", 2.0, 3.6, "each value is held against its text"),
    Promise("text", "jsonl", 2.5, 5.7, "as of CSV, and each line is read once more as a whole"),
    Promise("forgetting", "to reading the files", 3.0, 11, "files are read, written anew (2.5 times), checked and committed"),
)
MEANING = "A line is at most what is asked; what is not kept is at most a fifth above what `benchmarks/promises.py` has recorded."
HEADINGS = ("what", "measured by, python -m", "today", "asked", "verdict")


def measured(parts: Sequence[str], size: Size, say: Callable[[str], None]) -> dict[str, Ratios]:
    """The lines of each part. A part that fails has none, and the next part goes on."""
    found = dict[str, Ratios]()
    for part in parts:
        try:
            found[part] = PARTS[part][1](size)
        except (Exception, SystemExit) as broken:  # noqa: BLE001 - hours of other parts may follow
            say(f"{part}: {type(broken).__name__}: {broken}")
            found[part] = {}
    return found


def lines(ratios: Mapping[str, Ratios]) -> list[tuple[str, ...]]:
    """A line for each promise of the parts that were measured, under HEADINGS."""
    chosen = [(promise, ratios[promise.part].get(promise.line)) for promise in PROMISES if promise.part in ratios]
    return [
        (
            f"{promise.part}: {promise.line}",
            PARTS[promise.part][0],
            "-" if ratio is None else f"{ratio:.2f}",
            f"{promise.asked:g}",
            promise.verdict(ratio),
        )
        for promise, ratio in chosen
    ]


def broken(shown: Sequence[tuple[str, ...]]) -> list[str]:
    """What of the lines is neither kept nor recorded."""
    return [f"{line[0]}: {line[-1]}" for line in shown if line[-1].startswith("NOT")]


def main() -> int:
    """Measure, print; 1 where a promise is neither kept nor as recorded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promises", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all unless named")
    parser.add_argument("--share", type=float, default=1.0, help="of all events (1)")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each (3); NEXMark has one")
    parser.add_argument("--data", type=Path, default=DATA, help="where events are kept (benchmarks/data)")
    asked, console = parser.parse_args(), Console(width=150)
    if unknown := set(asked.parts) - PARTS.keys():
        parser.error(f"there is no part {min(unknown)!r}")
    shown = lines(measured(asked.parts or [*PARTS], Size(asked.share, asked.runs, asked.data.absolute()), print))
    report.show("What was asked", HEADINGS, shown, console)
    return int(bool(broken(shown)))


if __name__ == "__main__":
    raise SystemExit(main())
