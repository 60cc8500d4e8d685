"""`python -m benchmarks.living`: a year of days, then a month as people have it; what it costs, and how many rows are wrong at each moment.

A file of 100,000 rows a day for 365 days. Then thirty days: one row of a hundred is of the week before, once a week an old file is written
anew, and one person is deleted. Each contender keeps two tables up to date, of days and of sessions of each key. After each day its rows
are held against DuckDB's over all files, as far as windows have ended. Each step in a process of its own with one thread; CPU seconds are
of the whole process, its imports too. `chdb` takes part where it is installed, Flink where Maven and a JDK are.
"""

import argparse
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from benchmarks import facts, report
from benchmarks.living.contenders import TABLES
from benchmarks.living.steps import CONTENDERS, Figures, step, write_tables
from benchmarks.living.world import DAY_US, START, World
from benchmarks.measurement import alone
from benchmarks.nexmark.engines import has_flink

FIRST = "duckdb"
"""Whose rows are right: the whole question over all files."""


@dataclass
class Outcome:
    """What a contender took: the history, each day, and how many rows were wrong after each day, by table."""

    first: Figures
    days: list[Figures] = field(default_factory=list)
    wrong: dict[str, list[int]] = field(default_factory=dict)


def wrong_rows(ours: Path, right: Path, known_us: int) -> int:
    """How many rows of a table are wrong, missing or too many, of windows that have ended by then."""
    each = [f"(FROM '{path}' WHERE end_us <= {known_us})" for path in (ours, right)]
    return int(
        duckdb.execute(
            f"SELECT count(*) FROM {each[0]} a FULL JOIN {each[1]} b USING (k, start_us)"
            " WHERE a.end_us IS DISTINCT FROM b.end_us OR a.n IS DISTINCT FROM b.n OR a.x IS DISTINCT FROM b.x"
        ).fetchall()[0][0]
    )


def compared(name: str, world: World, place: Path, day: int, outcome: Outcome) -> None:
    """Note how many rows of a contender are wrong after a day."""
    out = place / f"tables-{name}"
    shutil.rmtree(out, ignore_errors=True)
    alone(write_tables, name, world, place / name, out)
    for table in TABLES:
        if (path := out / f"{table}.parquet").exists():
            known_us = int(START.timestamp()) * 1_000_000 + (day + 1) * DAY_US
            outcome.wrong.setdefault(table, []).append(wrong_rows(path, place / f"tables-{FIRST}/{table}.parquet", known_us))


def live(names: Sequence[str], world: World, place: Path, say: Callable[[str], None]) -> Mapping[str, Outcome]:
    """The history and each day by each contender, FIRST before others."""
    world.write_history()
    outcomes = {name: Outcome(alone(step, name, world, place / name, None)) for name in names}
    for day in range(world.days, world.last):
        world.go_on(day)
        for name, outcome in outcomes.items():
            outcome.days.append(alone(step, name, world, place / name, day))
            compared(name, world, place, day, outcome)
        wrong = ", ".join(f"{name} {sum(rows[-1] for rows in one.wrong.values())}" for name, one in outcomes.items())
        say(f"day {day - world.days + 1} of {world.more}: rows that are wrong: {wrong}")
    return outcomes


HEADINGS = [
    "who",
    "history, CPU s",
    "a day, CPU s",
    "all days, CPU s",
    "peak MB",
    "MB written",
    "wrong days, at most",
    "wrong sessions, at most",
]


def lines(outcomes: Mapping[str, Outcome]) -> list[list[str]]:
    """A line for each contender."""
    found = []
    for name, one in outcomes.items():
        total = sum(day.cpu_s for day in one.days)
        peak = max(figures.peak_mb for figures in (one.first, *one.days))
        wrong = [f"{max(one.wrong[table]):,}" if table in one.wrong else "has none" for table in TABLES]
        written = sum(day.written_mb for day in one.days)
        figures = [f"{one.first.cpu_s:.1f}", f"{total / len(one.days):.2f}", f"{total:.1f}", f"{peak:,.0f}", f"{written:,.0f}"]
        found.append([CONTENDERS[name][0], *figures, *wrong])
    return found


def main() -> int:
    """Run what was asked; 1 if a row of Muntin's was ever wrong."""
    there = [name for name in CONTENDERS if name != "view" or importlib.util.find_spec("chdb")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.living", description=__doc__)
    parser.add_argument("--days", type=int, default=365, help="of the history (365)")
    parser.add_argument("--more", type=int, default=30, help="days that follow (30)")
    parser.add_argument("--events", type=int, default=100_000, help="of a day (100,000)")
    parser.add_argument("--keys", type=int, default=1_000, help="1,000")
    parser.add_argument(
        "--only", nargs="+", default=there, choices=there, metavar="WHO", help=f"some of {', '.join(there)}, beside {FIRST}"
    )
    asked = parser.parse_args()
    names = [name for name in dict.fromkeys([FIRST, *asked.only]) if name != "flink" or has_flink()]
    with tempfile.TemporaryDirectory(prefix="muntin-living-") as folder:
        world = World(Path(folder, "events"), asked.days, asked.more, asked.events, asked.keys)
        outcomes = live(names, world, Path(folder), lambda line: print(line, file=sys.stderr, flush=True))
    print(f"{facts.machine()}. {facts.versions()}.\n")
    print(report.markdown(HEADINGS, lines(outcomes)))
    return int("muntin" in outcomes and any(sum(rows) for rows in outcomes["muntin"].wrong.values()))


if __name__ == "__main__":
    raise SystemExit(main())
