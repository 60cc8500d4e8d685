"""Orders that change and are taken back, told as a stream of operations; and the rows that are left of them, said naively.

A row is (operation, order, minute of its event, amount). Batches are hours. The city of an order follows from its amount.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from muntin import Pipeline, RunReport, read, windows
from muntin import aggregates as agg
from tests.end_to_end.hourly import START, Hourly
from tests.properties.equal_values import bitwise

Row = tuple[str, int | None, float | None, float | None]
Story = Mapping[int, Sequence[Row]]
SCHEMA = pa.schema([
    ("op", pa.string()), ("order", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("amount", pa.float64()), ("city", pa.string()),
])  # fmt: skip
TYPES = {"order": "BIGINT", "amount": "DOUBLE", "at": "TIMESTAMPTZ", "city": "VARCHAR"}
WINDOWS = {
    "hour": windows.tumbling("1h", grace="2h"),
    "visits": windows.session("20m", grace="1h"),
    "rows": windows.arrival(windows.by_count(3)),
    "high": windows.while_("amount > 5", grace="1h"),
}
HOUR = {"hour": WINDOWS["hour"]}
AGGREGATES = {"n": agg.count(), "total": agg.sum("amount / 7"), "first": agg.first("amount"), "orders": agg.count_distinct('"order"')}
DELETES, UPDATES = ("d", "-U"), ("u", "+U")


class Shop:
    """A story in files, and the pipeline over it.

    `within`: hours that an order may change for; `form`: of the files; `kinds`: the windows; `told`: what the source is told otherwise.
    With `newest_by="rank"` files have a column more, which follows from the amount.
    """

    def __init__(self, folder: Path, within: int = 3, form: str = "parquet", kinds: Mapping[str, Any] = WINDOWS, **told: Any) -> None:
        types = TYPES | ({"rank": "BIGINT"} if "newest_by" in told else {})
        changes = {"id": "order", "operation": "op", "changes_within": f"{within}h", "types": types}
        other = {"windows": kinds, "aggregates": AGGREGATES}
        self.within, self.form, self.told, self.rows = within, form, told, dict[int, Sequence[Row]]()
        self.hours = Hourly(folder, f"{{start:%H}}.{form}", source={**changes, **told}, other=other)
        self.clean = Hourly(folder / "clean", "{start:%H}.parquet", other={**other, "name": "clean"})

    @property
    def pipeline(self) -> Pipeline:
        return self.hours.pipeline

    def tell(self, story: Story) -> None:
        """Write the files of some hours."""
        for hour, rows in story.items():
            self.rows[hour] = rows
            ranks = {"rank": pa.array(map(rank, rows), pa.int64())} if "newest_by" in self.told else {}
            self.hours.write(f"{hour:02}.{self.form}", {**columns(rows), **ranks})

    def run(self, first: int, last: int | None = None) -> RunReport:
        return self.hours.run(first, first if last is None else last)

    def read(self, window: str) -> pa.Table:
        return read(self.pipeline, window, root=self.hours.root, provisional=True)

    @property
    def backs(self) -> Sequence[str]:
        """The operations that take a row back."""
        return (*DELETES, "?") if "'?'" in self.told.get("deletes", "") else DELETES

    def takes(self, row: Row) -> bool:
        """Whether a row is not refused, whatever the other rows are."""
        newest = row[1] is None or rank(row) is not None or "newest_by" not in self.told
        return newest and is_taken(row, words="deletes" not in self.told, backs=self.backs)

    def cleaned(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        """The rows of a clean run, as columns."""
        return columns(rows)

    def check(self) -> None:
        """The windows are those of a clean run over the rows that are left."""
        updates = UPDATES if self.told.get("operation", "op") else ()
        story = {hour: [row for row in rows if self.takes(row)] for hour, rows in self.rows.items()}
        newest = rank if "newest_by" in self.told else lambda _: 0
        for hour, rows in left(story, self.within, updates, self.backs, newest).items():
            self.clean.write(f"{hour:02}.parquet", self.cleaned(rows))
        self.clean.run(min(self.rows), max(self.rows))
        for window in self.hours.other["windows"]:
            wanted = read(self.clean.pipeline, window, root=self.clean.root, provisional=True)
            found = self.read(window)
            assert bitwise(found, wanted), (window, found.to_pylist(), wanted.to_pylist())


def columns(rows: Sequence[Row]) -> Mapping[str, pa.Array]:
    told = [dict(zip(SCHEMA.names, (*row[:2], moment(row[2]), row[3], city(row)), strict=True)) for row in rows]
    table = pa.Table.from_pylist(told, SCHEMA)
    return dict(zip(table.column_names, table.columns, strict=True))


def city(row: Row) -> str | None:
    return None if row[3] is None else "Graz" if row[3] < 5 else "Linz"


def rank(row: Row) -> int | None:
    """A number that says how new a row is, with many that are equal, whenever it came."""
    return None if row[3] is None else int(row[3] * 100) % 3


def moment(minute: float | None) -> Any:
    return None if minute is None else START + timedelta(minutes=minute)


def is_taken(row: Row, *, words: bool = True, backs: Sequence[str] = DELETES) -> bool:
    """Whether a row is known to change something, or has a time. `words`: whether each operation must be known; `backs`: as `left`."""
    op, order, minute, _ = row
    return (op != "?" or not words) and (order is not None if op in backs else minute is not None)


def left(
    story: Story,
    within: int,
    updates: Sequence[str] = UPDATES,
    backs: Sequence[str] = DELETES,
    newest: Callable[[Row], int | None] = lambda _: 0,
) -> dict[int, list[Row]]:
    """The rows that are left, in the hours whose files brought their orders first, each in the place of the last row of its order there.

    Args:
        story: what each hour says, without rows that are refused.
        within: hours that an order may change for.
        updates: operations that are of an order which was there, beside those that take back: refused where nobody in reach brought that.
        backs: operations that take back.
        newest: how new a row is: the newest counts, and of equal rows the last, in the place of the newest of its hour.
    """
    begun = {(hour, row[1]): row[0] for hour, rows in story.items() for row in reversed(rows)}
    brought = {which for which, op in begun.items() if op not in (*backs, *updates)}

    def home(hour: int, order: int | None) -> int | None:
        first = next((at for at in range(hour - within, hour + 1) if (at, order) in brought), None)
        older = first is not None and any((at, order) in brought for at in range(first - within, first))
        return None if older and first != hour else first

    found: dict[int, dict[Any, Row]] = {hour: {} for hour in sorted(story)}
    for hour in sorted(story):
        for place, row in enumerate(story[hour]):
            order = row[1] if row[1] is not None else (hour, place)
            if (at := hour if row[1] is None else home(hour, row[1])) is not None:
                before = found[at].get(order)
                if before is None or row[1] is None or (newest(row) or 0) >= (newest(before) or 0):
                    if hour == at:
                        found[at].pop(order, None)
                    found[at][order] = row
    return {hour: [row for row in rows.values() if row[0] not in backs] for hour, rows in found.items()}
