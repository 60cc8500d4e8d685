"""Orders in a table of Iceberg that changes by copy-on-write: each change is one snapshot that writes the files anew which it meets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow.parquet as pq

from muntin import Limits, Pipeline, sources
from tests.end_to_end.hourly import START, hour
from tests.tables.iceberg_tables import Lake
from tests.taken_back.delta_shop import AGGREGATES, WINDOWS, DeltaShop, Orders, rows


@dataclass
class IcebergShop(DeltaShop):
    """As `DeltaShop`. `numbers`: of the snapshot of each version."""

    numbers: list[int] = field(default_factory=list)

    @property
    def lake(self) -> Lake:
        return Lake(self.folder)

    @property
    def pipeline(self) -> Pipeline:
        source = sources.iceberg(
            "lake", "shop.orders", event_time="at", changes=True, rows=sources.events(id="order", within=f"{self.within}h")
        )
        more: dict[str, Any] = {"windows": WINDOWS, "aggregates": AGGREGATES, "limits": Limits(max_quarantined=None)}
        return Pipeline(name="shop", source=source, schedule="1h", start=START, **more)

    def dated(self, at: float) -> None:
        self.numbers.append(self.lake.dated(hour(at)))

    def add(self, at: float, more: Orders) -> None:
        self.commit(at, lambda: self.lake.append(rows(more), hour(at)), self.orders | more)

    def update(self, at: float, order: int, amount: float) -> None:
        self._write_anew(at, self.orders | {order: (self.orders[order][0], amount, self.orders[order][2])})

    def delete(self, at: float, gone: Callable[[int], bool], where: str) -> None:  # noqa: ARG002 - as of `DeltaShop`
        self._write_anew(at, {order: row for order, row in self.orders.items() if not gone(order)})

    def merge(self, at: float, more: Orders) -> None:
        self._write_anew(at, self.orders | more)

    def overwrite(self, at: float, after: Orders) -> None:
        self.commit(at, lambda: self.lake.replace_files(self._files(), rows(after)), after)

    def compact(self, at: float) -> None:
        self.commit(at, lambda: self.lake.compact(hour(at)), self.orders)

    def restore(self, at: float, version: int) -> None:
        if self.versions[version] != self.orders:
            back = self.lake.table().manage_snapshots().set_current_snapshot(self.numbers[version])
            self.commit(at, back.commit, self.versions[version])

    def _write_anew(self, at: float, after: Orders) -> None:
        held = {each: pq.read_table(each.file_path.removeprefix("file://"))["order"].to_pylist() for each in self._files()}
        met = {each: some for each, some in held.items() if any(self.orders[order] != after.get(order) for order in some)}
        new = {order for some in met.values() for order in some} | ({*after} - {*self.orders})
        there = {order: row for order, row in after.items() if order in new}
        self.commit(at, lambda: self.lake.replace_files([*met], rows(there)), after)

    def _files(self) -> list[Any]:
        return [each.file for each in self.lake.table().scan().plan_files()]
