"""The worked examples of docs/changes.md are right: their definitions are run over its story."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import read
from muntin.definition.pipeline import at_home
from muntin.testing import run_here
from tests.tables.delta_tables import append, dated

TEXT = (Path(__file__).parents[2] / "docs/changes.md").read_text(encoding="utf-8")
DAYS = ((7, 1, "c", 10.0, 1), (8, 1, "c", 5.0, 1), (8, None, "d", None, 2), (9, 2, "c", 3.0, 2), (7, 1, "u", 12.0, 3))
SCHEMA = pa.schema([("order_id", pa.int64()), ("placed_at", pa.timestamp("us", "UTC")), ("op", pa.string()), ("amount", pa.float64())])


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The names that the blocks of the page define."""
    found: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE):
        exec(compile(block, "page", "exec"), found)  # noqa: S102 - our own page
    return found


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


def test_orders_that_are_corrected_and_cancelled(names: dict[str, Any], tmp_path: Path) -> None:
    for number in (1, 2, 3):
        rows = [
            {"order_id": order, "placed_at": at and day(at), "op": op, "amount": amount}
            for order, at, op, amount, of in DAYS
            if of == number
        ]
        folder = tmp_path / f"data/orders/{day(number):%Y-%m-%d}"
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder / "a.parquet")
    orders = at_home(names["orders"], tmp_path)
    run_here(orders, root=tmp_path / "state", start=day(1), end=day(4))
    found = read(orders, "day", root=tmp_path / "state", provisional=True).to_pylist()
    assert [(row["window_start"], row["orders"], row["revenue"]) for row in found] == [(day(1), 1, 12.0), (day(2), 1, 3.0)]


def test_a_table_that_is_updated(names: dict[str, Any], tmp_path: Path) -> None:
    table = tmp_path / "lake/orders"
    append(table, orders((7, 1, 10.0), (8, 1, 5.0)), day(1))
    DeltaTable(table).delete("order_id = 8")
    dated(table, day(2))
    merging = DeltaTable(table).merge(orders((7, 1, 12.0), (9, 2, 3.0)), "s.order_id = t.order_id", source_alias="s", target_alias="t")
    merging.when_matched_update_all().when_not_matched_insert_all().execute()
    dated(table, day(2))
    shop = at_home(names["orders_now"], tmp_path)
    run_here(shop, root=tmp_path / "state", start=day(1), end=day(4))
    found = read(shop, "day", root=tmp_path / "state", provisional=True).to_pylist()
    assert [(row["window_start"], row["orders"], row["revenue"]) for row in found] == [(day(1), 1, 12.0), (day(2), 1, 3.0)]


def orders(*rows: tuple[int, int, float]) -> pa.Table:
    schema = pa.schema([SCHEMA.field(name) for name in ("order_id", "placed_at", "amount")])
    return pa.Table.from_pylist([{"order_id": order, "placed_at": day(at), "amount": amount} for order, at, amount in rows], schema)


def test_a_table_that_is_looked_up_can_be_defined(names: dict[str, Any]) -> None:
    assert names["orders_looked_up"].lookups["now"] is names["now"]
