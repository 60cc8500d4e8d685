"""The golden cases as values: definition, batches, and the windows that came out."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.testing.oracle import SECOND, Agg, Batch, Cumulating, Session, Sliding, Window
from tests.oracle import Unique

CASES = Path(__file__).parent / "cases"
MS = 1_000
AGGREGATES = {
    "count": Agg("count"),
    "sum": Agg("sum", lambda row: row["v"]),
    "min": Agg("min", lambda row: row["v"]),
    "max": Agg("max", lambda row: row["v"]),
}


@dataclass(frozen=True)
class Line:
    """One window: times in microseconds; `closed` is a batch number or None."""

    key: str
    start: int
    end: int
    count: int
    sum: int
    min: int
    max: int
    values: tuple[int, ...]
    closed: int | None


@dataclass(frozen=True)
class Golden:
    """One case: its windows by another system, batch `n` = second `n` from the first event's."""

    name: str
    window: Window
    late_events: bool
    waits: bool
    batches: tuple[Batch, ...]
    lines: tuple[Line, ...]


def names(*kinds: str) -> list[str]:
    """The cases of these kinds, or all."""
    return sorted(path.stem for path in CASES.glob("*.json") if not kinds or kind(path.stem) in kinds)


def kind(name: str) -> str:
    """`sliding` (tumbling and hopping too), `session`, `cumulating` or `unique`."""
    return str(json.loads((CASES / f"{name}.json").read_text())["kind"])


def load(name: str) -> Golden:
    """Read the three files of a case."""
    said = json.loads((CASES / f"{name}.json").read_text())
    lines = tuple(map(line, table(f"{name}.windows.csv")))
    waits = said.get("touching") == "split" and said["closes"] == ">"
    return Golden(name, window(said), said["late_events"], waits, batches(name), lines)


def window(said: dict[str, Any]) -> Window:
    """The definition, in microseconds."""
    grace = said["grace"] * MS
    match said["kind"]:
        case "sliding":
            return Sliding(said["size"] * MS, said["step"] * MS, grace)
        case "cumulating":
            return Cumulating(said["max_size"] * MS, said["step"] * MS, grace)
        case "unique":
            return Unique(said["size"] * MS, said["resolution_ms"] * MS, grace=grace)
        case _:
            return Session(said["gap"] * MS, grace, said["touching"])


def batches(name: str) -> tuple[Batch, ...]:
    """One batch a number; a number without events is an empty one."""
    rows = table(f"{name}.events.csv")
    first = min(int(row["t"]) for row in rows) * MS // SECOND * SECOND
    events: list[list[dict[str, object]]] = [[] for _ in range(1 + max(int(row["batch"]) for row in rows))]
    for row in rows:
        events[int(row["batch"])].append({"key": row["key"], "t": int(row["t"]) * MS, "v": int(row["v"])})
    return tuple(Batch(first + n * SECOND, first + (n + 1) * SECOND, found) for n, found in enumerate(events))


def line(row: dict[str, str]) -> Line:
    """A line of `NAME.windows.csv`."""
    return Line(
        row["key"],
        int(row["start"]) * MS,
        int(row["end"]) * MS,
        *(int(row[name]) for name in AGGREGATES),
        values=tuple(map(int, row["values"].split("|"))),
        closed=int(row["closed"]) if row["closed"] else None,
    )


def table(file: str) -> list[dict[str, str]]:
    """A CSV file's rows."""
    with (CASES / file).open(newline="") as lines:
        return list(csv.DictReader(lines))
