"""Random histories of two sources, in every way to run them: the oracle's windows, to the last bit the same.

`MUNTIN_JUDGE=100` runs a hundred histories instead of six.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from muntin import Limits, windows
from muntin import aggregates as agg
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.state.bound import bind
from muntin.store.paths import SharedPath, parse_states_path
from muntin.testing.oracle import judge
from muntin.testing.oracle.kinds import SECOND, Session, Sliding, micros
from muntin.testing.oracle.time import Batch, OfSources
from muntin.testing.oracle.time import Row as Event
from tests.case_counts import seeds
from tests.several.shop import START, Shop, at

SEEDS = seeds(12)
MINUTE, BATCHES = 60 * SECOND, 6
WINDOWS = {
    "hour": (windows.tumbling("1h", grace="10m"), Sliding(60 * MINUTE, 60 * MINUTE, 10 * MINUTE)),
    "hop": (windows.sliding("40m", step="20m"), Sliding(40 * MINUTE, 20 * MINUTE)),
    "visit": (windows.session("15m"), Session(15 * MINUTE)),
}
AGGREGATES: dict[str, tuple[Any, Callable[[list[Event]], Any]]] = {
    "events": (agg.count(), len),
    "clicks": (agg.count(source="clicks"), lambda rows: sum(row["source"] == "clicks" for row in rows)),
    "spent": (agg.sum("amount", source="orders"), lambda rows: total(of("orders", rows, "amount"))),
    "large": (agg.count(source="orders", where="amount > 5"), lambda rows: sum(row["amount"] > 5 for row in rows if "amount" in row)),
    "pages": (agg.count_distinct("page", source="clicks"), lambda rows: len(set(of("clicks", rows, "page")))),
    "order": (agg.collect("id"), lambda rows: [row["id"] for row in rows]),
    "last": (agg.last("page", source="orders"), lambda rows: next(reversed(of("orders", rows, "page")), None)),
}


def of(source: str, rows: list[Event], column: str) -> list[Any]:
    return [row[column] for row in rows if row["source"] == source]


def total(values: list[int]) -> int | None:
    return sum(values) if values else None


class History:
    """Batches of both sources: late rows, rows without a time, equal times in both; orders may stay away for hours."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.draw = seed, Random(seed)
        self.idle = self.draw.choice([None, 60, 150])
        policy = self.draw.choice(["interval", "events", "events"])
        self.idle = None if policy == "interval" else self.idle
        self.oracle_watermark = "interval" if policy == "interval" else OfSources(("clicks", "orders"), self.idle and self.idle * MINUTE)
        self.names = ["orders", "clicks"] if seed % 3 == 0 else ["clicks", "orders"]
        self.silent = range(*sorted(self.draw.sample(range(BATCHES + 1), 2))) if self.draw.random() < 0.6 else range(0)
        other = {
            "watermark": policy,
            "limits": Limits(max_quarantined=None, idle_after=f"{self.idle}m" if self.idle else None),
            "windows": {name: window for name, (window, _) in WINDOWS.items()},
            "aggregates": {name: aggregate for name, (aggregate, _) in AGGREGATES.items()},
            "where": {"clicks": "page <> 'none'"},
        }
        types = {"placed": "BIGINT", "user": "VARCHAR", "id": "INTEGER", "page": "SMALLINT", "amount": "BIGINT"}
        shop = Shop(folder, other, orders={"missing": "empty", "types": types})
        self.shop = Shop(folder, other | {"source": {name: shop.pipeline.sources[name] for name in self.names}})
        self.batches = [self.drawn(number) for number in range(BATCHES)]

    def drawn(self, number: int) -> Batch:
        rows: list[Event] = []
        for source in self.names:
            silent = source == "orders" and number in self.silent
            rows += [self.row(source, number, len(rows) + at) for at in range(0 if silent else self.draw.randint(1, 9))]
        start = micros(START) + number * 60 * MINUTE
        return Batch(start, start + 60 * MINUTE, rows)

    def row(self, source: str, number: int, place: int) -> Event:
        minute = 60 * number + self.draw.choice([self.draw.randint(0, 59), self.draw.randint(0, 59), self.draw.randint(-150, -1)])
        row = {"source": source, "t": micros(at(minute)), "user": self.draw.choice("ab"), "id": 100 * number + place}
        if self.draw.random() < 0.05:
            row["t"] = None
        if source == "clicks":
            return row | {"page": self.draw.choice(["home", "shoes", "none"])}
        return row | {"page": self.draw.randint(1, 3), "amount": self.draw.randint(1, 9)}

    def write(self, number: int, batch: Batch) -> None:
        for source in self.names:
            times = ((row, row["t"]) for row in batch.rows if row["source"] == source)
            rows = [{**row, "at": t, "placed": t and t // 1000} for row, t in times]
            path = self.shop.write(source, number, rows)
            if not rows:
                path.unlink()

    def said(self, window: str) -> Any:
        return judge(
            WINDOWS[window][1],
            self.batches,
            {name: oracle for name, (_, oracle) in AGGREGATES.items()},
            keys=["user"],
            watermark=self.oracle_watermark,
            where=lambda row: row["page"] != "none",
        )

    def published(self, window: str, state: str, *, provisional: bool = False) -> list[dict[str, Any]]:
        rows = self.shop.table(window, state, provisional=provisional).to_pylist()
        numbers = {batch.start: number for number, batch in enumerate(self.batches)}
        return [
            row
            | {"window_start": micros(row["window_start"]), "window_end": micros(row["window_end"])}
            | {"batch": row["batch"] and numbers[micros(row["batch"])]}
            for row in rows
        ]


def one_by_one(made: History) -> None:
    for number in range(BATCHES):
        made.shop.run(number, number)


def in_pieces(made: History) -> None:
    """Holes that are filled later, and the last piece twice."""
    for first, last in ((0, 1), (4, 5), (2, 2), (3, 3), (3, 5)):
        made.shop.run(first, last)


def replaced(made: History) -> None:
    """Two batches had other rows at first."""
    other = History(made.seed + 1000, made.shop.folder)
    other.names = made.names
    for number in (1, 4):
        made.write(number, other.drawn(number))
    made.shop.run(0, BATCHES - 1)
    for number in (4, 1):
        made.write(number, made.batches[number])
        made.shop.run(number, number, allow_missing=True)


def put_together(made: History) -> None:
    """Files of settled batches become one; later batches and a replaced one go on from it."""
    bound = bind(made.shop.pipeline, made.shop.folder / "state")
    with pytest.MonkeyPatch.context() as soon:
        soon.setattr(compaction, "MANY", 2)
        for number in range(BATCHES):
            made.shop.run(number, number)
            while compaction.compact(bound):
                pass
    files = bound.store.snapshot(bound.frame_sets[0].table).files
    assert any(isinstance(parse_states_path(file.path), SharedPath) for file in files)
    made.shop.run(3, 3)


WAYS = (one_by_one, in_pieces, replaced, put_together)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_publishes_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    made = History(seed, tmp_path)
    for number, batch in enumerate(made.batches):
        made.write(number, batch)
    report = made.shop.run(0, BATCHES - 1, "clean")
    WAYS[seed % len(WAYS)](made)
    for window in WINDOWS:
        said = made.said(window)
        assert in_order(made.published(window, "clean")) == in_order(said.published), window
        still_open = [row for row in made.published(window, "clean", provisional=True) if row.pop("provisional")]
        assert in_order(still_open) == in_order(said.still_open), window
        assert made.shop.table(window, "clean").equals(made.shop.table(window)), window
    counted(made, report.batches)


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["user"], row["window_start"], row["window_end"]))


def counted(made: History, reports: Any) -> None:
    """The rows of each source add up to those of the batch."""
    for batch, report in zip(made.batches, reports, strict=True):
        assert report.rows_read == len(batch.rows) == sum(rows.read for rows in report.sources.values())
        for name, rows in report.sources.items():
            own = [row for row in batch.rows if row["source"] == name]
            assert rows.read == len(own)
            assert rows.quarantined == sum(row["t"] is None for row in own)
            assert rows.accepted == sum(row["t"] is not None and row["page"] != "none" for row in own)
