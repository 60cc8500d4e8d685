"""CPU seconds of a work by Muntin and by another engine, in turns, each in a process of its own; and the ratios that are recorded.

Ratios depend less on the machine and on other work than seconds; where thirty processes want two cores they still differ by a third.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks import facts
from benchmarks.measurement import told
from benchmarks.nexmark import files

FILE = Path(__file__).with_name("ratios.json")
SCALE, EVENTS = 0.1, 1_000_000
"""A tenth of what `python -m benchmarks` and `python -m benchmarks.nexmark` measure."""
ROUNDS, JOBS = 3, 4
MORE = 1.2
"""A ratio is at most so many times the ratio that is recorded."""


@dataclass(frozen=True, slots=True)
class Work:
    """The names of two contestants of `benchmarks.contestant`; of a query of NEXMark, of two of `benchmarks.nexmark.engines`.

    Attributes:
        ours: Muntin, in a process without Spark unless `on_spark`.
        beside: the other.
        query: of NEXMark; "": none.
        on_spark: whether Spark runs our tasks. Java compiles as it runs, so that each job counts.
    """

    ours: str
    beside: str
    query: str = ""
    on_spark: bool = False

    def cpu_s(self, name: str, folder: Path) -> float:
        """CPU seconds of a contestant's cheapest job, from events in a folder, which are made where there are none.

        Of Spark's tasks the mean of all jobs.
        """
        if self.query:
            module, arguments = "benchmarks.nexmark.engines", [name, self.query, "--folder", f"{_events(folder)}"]
        else:
            module, arguments = "benchmarks.contestant", [name, "--scale", f"{SCALE}", "--data", f"{folder}"]
            arguments += [] if self.on_spark else ["--without-spark"]
        arguments += ["--jobs", f"{JOBS}", "--out", f"{folder / 'out'}"]
        jobs = [job["cpu_s"] for job in told(module, arguments, folder / "last-run.log")]
        return mean(jobs) if self.on_spark and name == self.ours else min(jobs)

    def ratio(self, folder: Path, rounds: int = ROUNDS) -> float:
        """Our CPU seconds to those of the other: the median of so many rounds."""
        return round(median(self.cpu_s(self.ours, folder) / self.cpu_s(self.beside, folder) for _ in range(rounds)), 2)


WORKS: Mapping[str, Work] = {
    "W1": Work("ours-sliding", "duckdb-sliding"),
    "W1 in 15-minute batches": Work("ours-quarters", "duckdb-sliding"),
    "W1 on Spark": Work("ours-sliding", "duckdb-sliding", on_spark=True),
    "W2": Work("ours-sessions", "duckdb-sessions"),
    "W3": Work("ours-unique", "duckdb-unique-join"),
    "W4": Work("ours-counted", "duckdb-counted"),
    "W5": Work("ours-last-rows", "duckdb-last-rows"),
    "W6": Work("ours-deltas", "numba-deltas"),
    "W7": Work("ours-days", "duckdb-days"),
    **{f"NEXMark's {query}": Work("muntin", "duckdb", query) for query in ("q5", "q9", "q15")},
}


@dataclass(frozen=True, slots=True)
class Record:
    """The ratios that were measured last, by work, and the machine that they were measured on."""

    machine: str
    ratios: Mapping[str, float]

    def fault(self, work: str, measured: float) -> str:
        """What is wrong with a ratio; "": nothing, it is not much more than the recorded ratio."""
        known = self.ratios[work]
        if measured <= MORE * known:
            return ""
        return (
            f"{work} takes {measured:.2f} times the CPU seconds of {WORKS[work].beside}, {measured / known - 1:.0%} more than "
            f"the {known:.2f} recorded on {self.machine}; find the commit (git bisect), or record it, and let the commit say why: "
            f"python -m tests.speed {work!r}"
        )


def recorded() -> Record:
    """The record."""
    return Record(**json.loads(FILE.read_text(encoding="utf-8")))


def write(record: Record) -> None:
    """Write the record."""
    FILE.write_text(json.dumps({"machine": record.machine, "ratios": record.ratios}, indent=2) + "\n", encoding="utf-8")


def machine() -> str:
    """This machine, and how many processes wanted a core in the last minutes."""
    return f"{facts.machine()}; load {os.getloadavg()[1]:.0f}"


def _events(folder: Path) -> Path:
    """The events of NEXMark, at the end of a path that its definitions read."""
    made = folder / "data/nexmark"
    if not made.exists():
        files.write(made, EVENTS)
    return made
