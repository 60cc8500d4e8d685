"""Orders in a Delta table that changes: added, updated, deleted, merged, overwritten and restored; and what that means, naively."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from muntin import Limits, Pipeline, RunReport, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local
from tests.end_to_end.hourly import START, Hourly, hour
from tests.properties.equal_values import bitwise
from tests.tables.delta_tables import dated
from tests.taken_back.stories import Row, columns, is_taken, left, moment

Orders = dict[int, tuple[float, float, str]]  # minute of the event, amount, city
SCHEMA = pa.schema([
    ("order", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("amount", pa.float64()), ("city", pa.string()),
])  # fmt: skip
WINDOWS = {"hour": windows.tumbling("1h", grace="2h"), "visits": windows.session("20m", grace="1h"), "high": windows.while_("amount > 5")}
AGGREGATES = {  # whatever the order of rows in the files of the table
    "n": agg.count(),
    "cents": agg.sum("(amount * 100)::BIGINT"),
    "all": agg.collect_sorted("amount"),
    "orders": agg.count_distinct('"order"'),
}


@dataclass
class DeltaShop:
    """A table and the pipeline over it. `feed`: whether the table writes a change feed; `within`: hours that an order may change for."""

    folder: Path
    within: int = 3
    feed: bool = True
    by: Sequence[str] = ()
    orders: Orders = field(default_factory=dict)
    versions: list[Orders] = field(default_factory=list)
    story: dict[int, list[Row]] = field(default_factory=dict)
    ends: dict[int, Orders] = field(default_factory=dict)
    more: ClassVar[Mapping[str, Any]] = {}
    more_when_clean: ClassVar[Mapping[str, Any]] = {}

    @property
    def table(self) -> Path:
        return self.folder / "table"

    @property
    def pipeline(self) -> Pipeline:
        source = sources.table(str(self.table), event_time="at", changes=True, rows=sources.events(id="order", within=f"{self.within}h"))
        right: dict[str, Any] = {"name": "shop", "source": source, "schedule": "1h", "start": START, "windows": WINDOWS}
        right["limits"] = Limits(max_quarantined=None)  # of so few rows most may come too late
        return Pipeline(**(right | {"aggregates": AGGREGATES} | dict(self.more)))

    def run(self, first: int, last: int | None = None, spark: Any = None) -> RunReport:
        end = hour((first if last is None else last) + 1)
        return run(self.pipeline, root=self.folder / "state", start=hour(first), end=end, spark=spark or Local(2))

    def cleaned(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        """The rows of a clean run, as columns."""
        return columns(rows)

    def commit(self, at: float, change: Callable[[], Any], after: Orders) -> None:
        """Change the table at an hour; note what that means for each order."""
        change()
        self.dated(at)
        rows = self.story.setdefault(int(at), [])
        rows += [("d", order, *self.orders[order][:2]) for order in self.orders if order not in after]
        rows += [_told(self.orders, order, row) for order, row in after.items() if self.orders.get(order) != row]
        self.orders = self.ends[int(at)] = after
        self.versions.append(after)

    def dated(self, at: float) -> None:
        """Let the newest commit be of an hour."""
        dated(self.table, hour(at))

    def add(self, at: float, more: Orders) -> None:
        settings = {"delta.enableChangeDataFeed": str(self.feed).lower()}
        new = {} if self.versions else {"partition_by": [*self.by], "configuration": settings}
        self.commit(at, lambda: write_deltalake(self.table, rows(more), mode="append", **new), self.orders | more)  # type: ignore[call-overload]

    def update(self, at: float, order: int, amount: float) -> None:
        change = {order: (self.orders[order][0], amount, self.orders[order][2])}
        how = {"predicate": f'"order" = {order}', "new_values": {"amount": amount}}
        self.commit(at, lambda: DeltaTable(self.table).update(**how), self.orders | change)  # type: ignore[arg-type]

    def delete(self, at: float, gone: Callable[[int], bool], where: str) -> None:
        after = {order: row for order, row in self.orders.items() if not gone(order)}
        self.commit(at, lambda: DeltaTable(self.table).delete(where or None), after)

    def merge(self, at: float, more: Orders) -> None:
        """Update orders that are there, and add the others."""
        changed = {order: row for order, row in more.items() if self.orders.get(order) != row}
        merging = DeltaTable(self.table).merge(rows(changed), 's."order" = t."order"', source_alias="s", target_alias="t")
        self.commit(at, merging.when_matched_update_all().when_not_matched_insert_all().execute, self.orders | changed)

    def overwrite(self, at: float, after: Orders) -> None:
        self.commit(at, lambda: write_deltalake(self.table, rows(after), mode="overwrite"), after)

    def compact(self, at: float) -> None:
        before = DeltaTable(self.table).version()
        DeltaTable(self.table).optimize.compact()
        if DeltaTable(self.table).version() > before:
            self.commit(at, lambda: None, self.orders)

    def restore(self, at: float, version: int) -> None:
        if self.versions[version] != self.orders:
            self.commit(at, lambda: DeltaTable(self.table).restore(version), self.versions[version])

    def check(self, hours: int) -> None:
        """The windows are those of a clean run over the rows that are left: in files, an hour each."""
        clean = Hourly(
            self.folder / "clean", "{start:%H}.parquet", other={"windows": WINDOWS, "aggregates": AGGREGATES, **self.more_when_clean}
        )
        for at, found in left({at: [*filter(is_taken, found)] for at, found in self.told(hours).items()}, self.within).items():
            clean.write(f"{at:02}.parquet", self.cleaned(found))
        clean.run(0, hours - 1)
        for window in WINDOWS:
            wanted = read(clean.pipeline, window, root=clean.root, provisional=True)
            found = read(self.pipeline, window, root=self.folder / "state", provisional=True)
            assert bitwise(found, wanted) or not (len(found) or len(wanted)), (window, found.to_pylist(), wanted.to_pylist())

    def told(self, hours: int) -> Mapping[int, list[Row]]:
        """What each hour says, of orders that are not as before in the end; the first says what was in the table at its end."""
        first: dict[int, Row] = {}
        for row in self.story.get(0, ()):
            first.pop(row[1], None)  # type: ignore[arg-type]
            if row[0] != "d":
                first[row[1]] = ("c", *row[1:])  # type: ignore[index]
        return {0: [*first.values()]} | {at: [*self._changed(at)] for at in range(1, hours)}

    def _changed(self, at: int) -> Iterator[Row]:
        before, after = (self.ends[max((end for end in self.ends if end <= now), default=0)] for now in (at - 1, at))
        yield from (row for row in self.story.get(at, []) if row[1] not in before or before[row[1]] != after.get(row[1]))


def _told(before: Orders, order: int, row: tuple[float, float, str]) -> Row:
    return ("u" if order in before else "c", order, *row[:2])


def rows(orders: Orders) -> pa.Table:
    told = [{"order": order, "at": moment(at), "amount": amount, "city": city} for order, (at, amount, city) in orders.items()]
    return pa.Table.from_pylist(told, SCHEMA)


def tell(shop: DeltaShop, dice: random.Random, hours: int) -> Iterator[int]:
    """Random commits of some hours; each hour once it is over."""
    numbers = iter(range(1000))

    def some(at: float, count: int) -> Orders:
        return {next(numbers): _row(dice, at) for _ in range(count)}

    for now in range(hours):
        for step in range(dice.randint(0, 4) if shop.versions else 1):
            at, there = now + 0.1 + step / 10, [*shop.orders]
            what = dice.choice(["add", "add", "update", "update", "delete", "merge", "overwrite", "compact", "restore", "delete all"])
            if what == "add" or not there:
                shop.add(at, some(at, dice.randint(1, 4)))
            elif what == "update":
                shop.update(at, dice.choice(there), round(dice.uniform(0, 10), 2))
            elif what == "delete":
                gone = dice.choice(there)
                shop.delete(at, gone.__eq__, f'"order" = {gone}')
            elif what == "delete all":
                shop.delete(at, lambda _: True, "")
            elif what == "compact":
                shop.compact(at)
            elif what == "restore":
                shop.restore(at, dice.randrange(len(shop.versions)))
            else:
                kept = {order: row if dice.random() < 0.5 else _row(dice, at) for order, row in shop.orders.items() if dice.random() < 0.7}
                (shop.merge if what == "merge" else shop.overwrite)(at, kept | some(at, dice.randint(1, 2)))
        yield now


def _row(dice: random.Random, at: float) -> tuple[float, float, str]:
    return round(60 * at + dice.uniform(-150, 20), 3), round(dice.uniform(0, 10), 2), dice.choice(["Graz", "Linz"])
