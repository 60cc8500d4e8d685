"""Visits of people to pages, with all that a state keeps of them; and the same without one person."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin import Pipeline, RunReport, read, windows
from muntin import aggregates as agg
from tests.end_to_end.hourly import Hourly, times
from tests.properties.equal_values import bitwise

PEOPLE = ("ann", "bob", "cay", "dan", "eve")
BY_TIME = {
    "hour": windows.tumbling("1h"),
    "hours": windows.sliding("3h", step="1h", grace="1h"),
    "visits": windows.session("25m"),
    "changes": windows.unique_sliding("20m", resolution="1m"),
    "day": windows.cumulating("4h", step="1h"),
}
BY_ROW = {
    "three": windows.arrival(windows.by_count(3)),
    "last": windows.arrival(windows.by_count(4), trigger=windows.by_count(1)),
    "long": windows.while_("seconds > 4", grace="1h"),
    "page": windows.while_same("device"),
}
AGGREGATES = {
    "n": agg.count(),
    "total": agg.sum("seconds / 7"),
    "mean": agg.mean("seconds"),
    "first": agg.first("seconds"),
    "longest": agg.max("seconds"),
    "pages": agg.count_distinct("seconds"),
}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "by time": {"windows": BY_TIME, "rollups": {"by_page": ["page"]}},
    "by row": {"windows": BY_ROW},
    "by event": {"windows": {"hour": windows.tumbling("1h"), "visits": windows.session("25m")}, "watermark": "events"},
}
Row = tuple[float, str, str, float, str]
"""Minute, person, page, seconds, device."""


@dataclass
class Visits:
    """A pipeline over hours of visits, in files that a test writes."""

    folder: Path
    kind: str = "by time"
    more: Mapping[str, Any] = field(default_factory=dict)
    rows: dict[int, Sequence[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        told = {"name": "visits", "keys": ["person", "page"], "aggregates": AGGREGATES}
        self.hours = Hourly(self.folder, "{start:%H}.csv", {"types": {"seconds": "DOUBLE"}}, {**told, **KINDS[self.kind], **self.more})

    @property
    def pipeline(self) -> Pipeline:
        return self.hours.pipeline

    @property
    def root(self) -> Path:
        return self.hours.root

    def write(self, hour: int, rows: Sequence[Row], bad: Sequence[str] = ()) -> None:
        """The visits of an hour; `bad`: people of whom there is a row without a time."""
        self.rows[hour] = rows
        columns = dict(zip(("person", "page", "seconds", "device"), ([row[at] for row in rows] for at in (1, 2, 3, 4)), strict=True))
        texts = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in times(*(row[0] for row in rows))]
        table = {
            "at": [*texts, *("no time" for _ in bad)],
            **{name: [*values, *(_BAD[name] for _ in bad)] for name, values in columns.items()},
        }
        table["person"] = [*columns["person"], *bad]
        self.hours.write(f"{hour:02}.csv", table)

    def run(self, first: int, last: int | None = None) -> RunReport:
        return self.hours.run(first, first if last is None else last)

    def tables(self) -> dict[str, pa.Table]:
        """Window -> what is published; of windows of people also what is open."""
        found = {name: read(self.pipeline, name, root=self.root, provisional=True) for name in self.pipeline.windows}
        return {name: table if "person" in table.column_names else self.published(name) for name, table in found.items()}

    def published(self, window: str) -> pa.Table:
        return read(self.pipeline, window, root=self.root)


_BAD = {"person": "", "page": "/", "seconds": 1.0, "device": "x"}


def drawn(dice: random.Random, hour: int) -> list[Row]:
    """Visits of an hour, some of them late, in any order."""
    rows = [
        (
            max(0, hour * 60 + dice.randrange(-70 if dice.random() < 0.2 else 0, 60)),
            dice.choice(PEOPLE),
            dice.choice("xy"),
            float(dice.randrange(1, 9)),
            dice.choice("ab"),
        )
        for _ in range(dice.randrange(0, 25))
    ]
    return rows or [(hour * 60, "eve", "x", 1.0, "a")]


def without(table: pa.Table, person: str) -> pa.Table:
    """The windows of all others; a total is whole."""
    return table.filter(pc.not_equal(table["person"], person)) if "person" in table.column_names else table


def others_are(now: Mapping[str, pa.Table], before: Mapping[str, pa.Table], person: str, *, totals: bool = True) -> None:
    """The windows are those of before without a person's. `totals`: whether totals are as they were, too."""
    for name, table in now.items():
        if totals or "person" in table.column_names:
            wanted = without(before[name], person)
            assert bitwise(table, wanted), (name, table.to_pylist(), wanted.to_pylist())
