"""The definitions of docs/tables.md are right: the one over a table is run, the one over a database asks for what it should."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from muntin import Pipeline, read, run, sources
from muntin import aggregates as agg
from muntin.definition.pipeline import at_home
from muntin.tasks import Local
from muntin.testing import run_here, windows_of
from tests.end_to_end.hourly import hour
from tests.functions.world import hourly, rows
from tests.postgres_server import database, postgres
from tests.tables.delta_tables import append

__all__ = ["database", "postgres"]  # pytest looks for them here
PAGE = Path(__file__).parents[2] / "docs/tables.md"
START = datetime(2024, 5, 1, tzinfo=UTC)
ROWS = pa.table({"at": [START, START + timedelta(minutes=59)], "city": ["Graz", "Graz"], "price": [3, 5]})


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def defined(name: str) -> Pipeline:
    pieces = blocks()
    names: dict[str, Any] = {}
    exec(compile(next(each for each in pieces if f'name="{name}"' in each), "page", "exec"), names)  # noqa: S102 - our own page
    return next(each for each in names.values() if isinstance(each, Pipeline))


def test_over_a_table(tmp_path: Path) -> None:
    orders = at_home(defined("orders"), tmp_path)
    append(tmp_path / "lake/orders", ROWS, START - timedelta(days=1))
    append(tmp_path / "lake/orders", ROWS, START + timedelta(minutes=70))
    run_here(orders, root=tmp_path / "state", start=START, end=START + timedelta(hours=2))
    assert read(orders, "hour", root=tmp_path / "state")["spent"].to_pylist() == [8]


def test_over_a_function(tmp_path: Path) -> None:
    asked = defined("asked")
    run_here(asked, root=tmp_path, start=START, end=START + timedelta(hours=2))
    assert read(asked, "hour", root=tmp_path)["orders"].to_pylist() == [6, 6]
    assert windows_of(asked, [ROWS.select(["city"]).append_column("at", [[1714521600, 1714521601]])], provisional=True)[
        "orders"
    ].to_pylist() == [2]


def test_over_postgresql(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = (each for each in blocks() if "sources.sql(" in each)
    names: dict[str, Any] = {"sources": sources}
    exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
    shop = hourly(names["database"], aggregates={"n": agg.count(), "x": agg.sum("price")})
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id int, ordered timestamptz, city text, price numeric(9, 2), updated timestamptz)")
        connection.execute(
            "INSERT INTO orders VALUES (1, '2024-01-01 00:59Z', 'Graz', 1.10, now()), (2, '2024-01-01 01:00Z', 'Linz', 2, now())"
        )
        monkeypatch.setenv("SHOP", database)
        run(shop, root=tmp_path, start=hour(0), end=hour(2), spark=Local(2))
        connection.execute("UPDATE orders SET price = 5.25, updated = now() + interval '1 second' WHERE id = 1")
        run(shop, root=tmp_path, end=hour(2), spark=Local(2))
    assert rows(shop, tmp_path) == [(0, "Graz", 1, Decimal("5.25")), (1, "Linz", 1, 2)]


def test_other_databases_are_asked_by_functions_that_are_python() -> None:
    (code,) = (each for each in blocks() if "of_snowflake" in each)
    names: dict[str, Any] = {}
    exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
    assert [sources.function(names[name], event_time="at").named for name in ("of_sql_server", "of_snowflake")]


class Asked:
    """A session that notes what a function asks of it."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    @property
    def read(self) -> "Asked":
        return self

    def format(self, name: str) -> "Asked":
        self.said["format"] = name
        return self

    def options(self, **settings: str) -> "Asked":
        self.said |= settings
        return self

    def load(self) -> "Asked":
        return self


def test_over_a_database() -> None:
    shop = defined("shop")
    asked: Any = shop.source.read(Asked(), START, START + timedelta(hours=1))  # type: ignore[attr-defined]
    assert asked.said["format"] == "jdbc"
    assert "seen >= '2024-05-01T00:00:00+00:00' AND seen < '2024-05-01T01:00:00+00:00'" in asked.said["dbtable"]
    assert shop.source.needed == ("city", "price", "at")  # type: ignore[attr-defined]
    assert windows_of(shop, [ROWS], provisional=True)["spent"].to_pylist() == [8]
