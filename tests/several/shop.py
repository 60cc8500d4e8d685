"""Clicks and orders of a shop: two sources whose columns have other names and types, and one pipeline over both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, RunReport, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local
from tests.source_options import grouped

START = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLICKS = pa.schema({"at": pa.timestamp("us", "UTC"), "user": pa.string(), "id": pa.int64(), "page": pa.string()})
ORDERS = pa.schema({"placed": pa.int64(), "user": pa.string(), "id": pa.int32(), "page": pa.int16(), "amount": pa.int64()})
"""`page` is a text of clicks and a number of orders; `placed` are milliseconds."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Shop:
    """A folder with the files of both sources and a state; what a test says otherwise."""

    folder: Path
    other: Mapping[str, Any] = field(default_factory=dict)
    clicks: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        right: dict[str, Any] = {
            "name": "shop",
            "source": {
                "clicks": sources.files(f"{self.folder}/clicks/{{start:%H}}.parquet", **grouped(**{"event_time": "at", **self.clicks})),
                "orders": sources.files(
                    f"{self.folder}/orders/{{start:%H}}.parquet", **grouped(**{"event_time": "placed", "unit": "ms", **self.orders})
                ),
            },
            "schedule": "1h",
            "limits": Limits(max_quarantined=None),
            "start": START,
            "keys": ["user"],
            "windows": {"hour": windows.tumbling("1h")},
            "aggregates": {"events": agg.count(), "clicks": agg.count(source="clicks"), "spent": agg.sum("amount", source="orders")},
        }
        return Pipeline(**(right | dict(self.other)))

    def write(self, source: str, number: int, rows: Sequence[Row]) -> Path:
        """The file of an hour; rows as the source has them."""
        path = self.folder / source / f"{number:02d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(list(rows), CLICKS if source == "clicks" else ORDERS), path)
        return path

    def run(self, first: int = 0, last: int = 0, state: str = "state", **more: Any) -> RunReport:
        """Hours first..last, last included."""
        return run(
            self.pipeline, root=self.folder / state, start=START + first * HOUR, end=START + (last + 1) * HOUR, spark=Local(2), **more
        )

    def table(self, window: str = "hour", state: str = "state", **more: Any) -> pa.Table:
        return read(self.pipeline, window, root=self.folder / state, **more)

    def rows(self, *names: str, window: str = "hour") -> list[tuple[Any, ...]]:
        """Columns of what is published."""
        table = self.table(window)
        return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def at(minute: float) -> datetime:
    """So many minutes after the start."""
    return START + timedelta(minutes=minute)


def click(minute: float, user: str = "ann", page: str = "home", **more: Any) -> Row:
    return {"at": at(minute), "user": user, "page": page, **more}


def order(minute: float, user: str = "ann", amount: int = 5, **more: Any) -> Row:
    return {"placed": int(at(minute).timestamp() * 1000), "user": user, "amount": amount, **more}
