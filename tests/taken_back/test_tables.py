"""A Delta table in which rows are updated and deleted: its first rows are the events, and what they are now is looked up."""

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from muntin import Pipeline, plan, read, run, sources, windows
from muntin import aggregates as agg
from tests.end_to_end.hourly import START
from tests.tables.delta_tables import dated

DAY = timedelta(days=1)


def add(table: Path, *orders: tuple[int, datetime, float]) -> None:
    columns = {"order_id": pa.int64(), "placed_at": pa.timestamp("us", "UTC"), "amount": pa.float64()}
    rows = [dict(zip(columns, order, strict=True)) for order in orders]
    write_deltalake(table, pa.Table.from_pylist(rows, pa.schema(list(columns.items()))), mode="append")


def test_updated_and_deleted_rows_of_a_table(tmp_path: Path) -> None:
    table, start = tmp_path / "orders", START
    add(table, (7, start, 10.0), (8, start, 5.0), (9, start + timedelta(seconds=1), 3.0))
    dated(table, start + 0.1 * DAY)
    flow = Pipeline(
        name="now",
        source=sources.table(str(table), event_time="placed_at", on_change="skip"),
        schedule="1d",
        start=start,
        lookups={"now": sources.lookup(sources.table(str(table)), keys=["order_id"], since="placed_at")},
        where="now IS NOT NULL",
        windows={"second": windows.tumbling("1s")},
        aggregates={"orders": agg.count(), "revenue": agg.sum("now.amount")},
    )
    root = tmp_path / "state"

    def told() -> list[tuple[int, float]]:
        rows = read(flow, "second", root=root, provisional=True).select(["orders", "revenue"]).to_pylist()
        return [(row["orders"], row["revenue"]) for row in rows]

    run(flow, root=root, start=start, end=start + DAY)
    assert told() == [(2, 15.0), (1, 3.0)]
    DeltaTable(table).update(predicate="order_id = 7", new_values={"amount": 12.0})
    dated(table, start + 1.1 * DAY)
    DeltaTable(table).delete("order_id = 8")
    dated(table, start + 1.2 * DAY)
    assert [batch.interval_start for batch in plan(flow, root=root, start=start, end=start + DAY).batches] == [start]
    run(flow, root=root, start=start, end=start + DAY)
    assert told() == [(1, 12.0), (1, 3.0)]
