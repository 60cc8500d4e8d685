"""`sources.sql`: a query gives the rows of a batch; what changes in the table is read again, as a first run would read it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from muntin import Pipeline, plan, run, sources
from muntin.errors import DefinitionError, SourceError
from muntin.tasks import Local
from tests.case_counts import at_length, random_seeds
from tests.end_to_end.hourly import START, hour
from tests.functions.world import hourly, rows
from tests.maria_server import connected, maria, shop_database
from tests.postgres_server import database, postgres

__all__ = ["database", "maria", "postgres", "shop_database"]  # pytest looks for them here
HOURS = 4
BORDER = "%Y-%m-%d %H:%M:%S"


@dataclass
class Table:
    """A table `orders` in a database: its rows have an id, a time, a city, a number, when they changed, and whether they are gone."""

    address: str
    execute: Callable[..., None]
    borders: tuple[str, str]
    clock: int = 0

    def insert(self, number: int, minute: float, city: str = "Graz", x: float = 1.0) -> None:
        at = datetime.fromtimestamp(START.timestamp() + 60 * minute).astimezone(START.tzinfo).strftime(BORDER)
        self.execute(f"INSERT INTO orders VALUES ({number}, '{at}', '{city}', {x}, {self.now()}, 0)")

    def update(self, number: int, **values: object) -> None:
        words = ", ".join(f"{name} = {value!r}" for name, value in values.items())
        self.execute(f"UPDATE orders SET {words}, updated = {self.now()} WHERE id = {number}")

    def now(self) -> int:
        self.clock += 1
        return self.clock

    def pipeline(self, **options: Any) -> Pipeline:
        start, end = self.borders
        query = f"SELECT * FROM orders WHERE at >= {start} AND at < {end} ORDER BY id"
        return hourly(sources.sql("env:MUNTIN_TEST_SQL", query, **{"event_time": "at", "changed": "updated", "deleted": "gone", **options}))

    def run(self, root: Path, first: int | None = None, last: int = HOURS - 1, **options: Any) -> list[tuple[Any, ...]]:
        pipeline = self.pipeline(**options)
        run(pipeline, root=root, start=None if first is None else hour(first), end=hour(last + 1), spark=Local(2))
        return rows(pipeline, root)


@pytest.fixture
def lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    def execute(sql: str) -> None:
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
            connection.execute(sql)

    execute("CREATE TABLE orders (id INTEGER, at TEXT, city TEXT, x REAL, updated INTEGER, gone INTEGER)")
    monkeypatch.setenv("MUNTIN_TEST_SQL", f"sqlite:///{tmp_path}/shop.db")
    return Table(f"sqlite:///{tmp_path}/shop.db", execute, (f"{{start:{BORDER}}}", f"{{end:{BORDER}}}"))


@pytest.fixture
def large(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    pytest.importorskip("adbc_driver_postgresql")
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        connection.execute("CREATE TABLE orders (id int, at timestamptz, city text, x float8, updated int, gone int)")
        monkeypatch.setenv("MUNTIN_TEST_SQL", database)
        yield Table(database, connection.execute, ("{start}", "{end}"))  # type: ignore[arg-type]


@pytest.fixture
def widespread(shop_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    with connected(shop_database) as connection:
        execute = connection.cursor().execute
        execute("SET time_zone = '+00:00'")
        execute("CREATE TABLE orders (id int, at timestamp(6) NULL, city text, x double, updated int, gone bit(1))")
        monkeypatch.setenv("MUNTIN_TEST_SQL", shop_database)
        yield Table(shop_database, execute, ("{start}", "{end}"))


@pytest.fixture(params=["lite", "large", pytest.param("widespread", marks=at_length)])
def orders(request: pytest.FixtureRequest) -> Table:
    """A table in SQLite, in PostgreSQL, and in MariaDB."""
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def filled(orders: Table) -> Table:
    for at in range(HOURS):
        orders.insert(at, 60 * at)
        orders.insert(10 + at, 60 * at + 59.5, "Linz", at)
    return orders


def test_in_bulk_and_stepwise_and_replaced(orders: Table, tmp_path: Path) -> None:
    filled(orders)
    bulk = orders.run(tmp_path / "bulk", 0)
    assert [each[:3] for each in bulk] == [(at, "Graz", 1) for at in range(HOURS)] + [(at, "Linz", 1) for at in range(HOURS)]
    for at in (2, 0, 1, 3):
        orders.run(tmp_path / "stepwise", at, at)
    assert rows(orders.pipeline(), tmp_path / "stepwise") == bulk
    orders.execute("UPDATE orders SET x = 7 WHERE id = 1")  # nothing says that it changed
    assert orders.run(tmp_path / "bulk") == bulk
    assert (1, "Graz", 1, 7.0) in orders.run(tmp_path / "plain", 0, changed=None)
    orders.execute("UPDATE orders SET x = 8 WHERE id = 1")
    assert (1, "Graz", 1, 8.0) in orders.run(tmp_path / "plain", 1, 1, changed=None)  # a run that names it reads it


def test_what_changes_is_read_again_by_the_next_run(orders: Table, tmp_path: Path) -> None:
    filled(orders).run(tmp_path / "state", 0, 2)
    orders.update(0, x=5.0)  # updated
    orders.insert(20, 70, "Wien")  # late
    orders.update(12, gone=1)  # deleted softly
    orders.execute("DELETE FROM orders WHERE id = 11")  # deleted
    planned = plan(orders.pipeline(), root=tmp_path / "state", start=START, end=hour(3)).batches
    assert [each.reading for each in planned] == ["changed"] * 3
    found = orders.run(tmp_path / "state", 3, 3)
    assert found == orders.run(tmp_path / "clean", 0)
    assert [each[:3] for each in found if each[1] == "Wien"] == [(1, "Wien", 1)]
    assert (0, "Graz", 1, 5.0) in found
    assert [each[0] for each in found if each[1] == "Linz"] == [0, 3]


def test_of_the_rows_of_an_id_the_last_change_counts(orders: Table, tmp_path: Path) -> None:
    orders.insert(1, 5, "Graz", 1.0)
    orders.insert(1, 5, "Graz", 2.0)
    orders.insert(2, 6, "Graz", 0.5)
    assert orders.run(tmp_path, 0, 0, id="id") == [(0, "Graz", 2, 2.5)]


def lived(orders: Table, seed: int, folder: Path) -> None:
    """A random story, whose windows are those of a first run."""
    chance = Random(seed)
    orders.execute("DELETE FROM orders")
    ids = 0
    for _ in range(chance.randint(3, 12)):
        orders.insert(ids := ids + 1, chance.randint(0, 60 * HOURS - 1), chance.choice("ab"), chance.randint(0, 9) / 3)
    orders.run(folder / "state", 0, HOURS - 2)
    for _ in range(chance.randint(1, 3)):
        for _ in range(chance.randint(1, 4)):
            acts: list[Callable[[], object]] = [
                lambda: orders.insert(ids + chance.randint(1, 99), chance.randint(0, 60 * HOURS - 1), chance.choice("ab")),
                lambda: orders.update(chance.randint(1, ids), x=chance.randint(0, 9) / 3),
                lambda: orders.update(chance.randint(1, ids), gone=chance.randint(0, 1)),
                lambda: orders.update(chance.randint(1, ids), at=hour(chance.randrange(HOURS)).strftime(BORDER)),
                lambda: orders.execute(f"DELETE FROM orders WHERE id = {chance.randint(1, ids)}"),
            ]
            chance.choice(acts)()
        orders.run(folder / "state", chance.choice([None, HOURS - 1]))
    assert orders.run(folder / "state") == orders.run(folder / "clean", 0), seed


def test_a_story(lite: Table, tmp_path: Path) -> None:
    for seed in random_seeds(100):
        lived(lite, seed, tmp_path / str(seed))


@at_length
def test_a_story_of_postgresql(large: Table, tmp_path: Path) -> None:
    for seed in random_seeds(200):
        lived(large, seed, tmp_path / str(seed))


def test_a_few_changes_in_mariadb(widespread: Table, tmp_path: Path) -> None:
    filled(widespread).run(tmp_path / "state", 0, HOURS - 2)
    widespread.update(0, x=5.0)
    widespread.update(12, gone=1)
    found = widespread.run(tmp_path / "state", HOURS - 1)
    assert found == widespread.run(tmp_path / "clean", 0)
    assert (0, "Graz", 1, 5.0) in found
    assert [each[0] for each in found if each[1] == "Linz"] == [0, 1, 3]


@at_length
def test_a_story_of_mariadb(widespread: Table, tmp_path: Path) -> None:
    for seed in random_seeds(200):
        lived(widespread, seed, tmp_path / str(seed))


def test_values_are_parameters_and_never_text() -> None:
    from muntin.extensions.sql import mysql, postgresql, sqlite
    from muntin.extensions.sql.query import Query

    query = Query("env:X", "SELECT '{}' AS j, '{\"a\":1}' FROM o WHERE at >= {start:%Y'--} AND ms < {end:ms} AND at < {end}")
    for kind in (mysql, postgresql, sqlite):
        asked = query._rows(kind, (START, hour(1)))  # what the database is sent
        assert "--" not in asked.sql
        assert "2024" not in asked.sql
        assert "'{}' AS j" in asked.sql
        assert [*asked.values.values()] == ["2024'--", 1_704_070_800_000, hour(1)]


@pytest.mark.parametrize(("kind", "driver"), [("postgresql", "psycopg"), ("mysql", "pymysql")])
def test_a_secret_is_never_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, driver: str) -> None:
    pytest.importorskip(driver)
    monkeypatch.setenv("SHOP", f"{kind}://me:geheim@127.0.0.1:1/shop")
    source = sources.sql("env:SHOP", "SELECT * FROM o WHERE at >= {start} AND at < {end}", event_time="at", changed="u")
    with pytest.raises(SourceError, match=r"sources\.sql at env:SHOP") as caught:
        run(hourly(source), root=tmp_path, start=START, end=hour(1), spark=Local(2))
    assert "geheim" not in str(caught.value)
    monkeypatch.setenv("SHOP", "")
    with pytest.raises(SourceError, match="the environment has no SHOP"):
        run(hourly(source), root=tmp_path, start=START, end=hour(1), spark=Local(2))


def test_definitions_that_cannot_be() -> None:
    good = "SELECT * FROM o WHERE at >= {start} AND at < {end}"
    make: Any = sources.sql
    for address, query, more, says in [
        ("postgresql://me:geheim@db/shop", good, {}, "holds a password, which must not stand in code"),
        ("mysql://me@db/shop?password=geheim", good, {}, "holds a password, which must not stand in code"),
        ("oracle://db/shop", good, {}, "sources.spark reads others by JDBC"),
        ("mssql+pyodbc://me:geheim@db/shop", good, {}, r"returns mssql_python.connect\(...\).execute\(query, start, end\).arrow"),
        ("snowflake://me:geheim@acme/shop", good, {}, "fetch_arrow_all.* of snowflake.connector"),
        ("sqlite://shop.db", good, {}, 'write "sqlite:///shop.db"'),
        ("sqlite:///shop.db", good, {}, "SQLite has no instants"),
        ("env:SHOP", "SELECT * FROM o", {}, "must say which rows a batch has"),
        ("env:SHOP", "SELECT * FROM o WHERE at >= {start}", {}, "must say which rows a batch has"),
        ("env:SHOP", "SELECT * FROM o WHERE at >= '{start}' AND at < '{end}'", {}, "leave the quotes around them out"),
        ("env:SHOP", 'SELECT * FROM o WHERE at >= "{start}" AND at < "{end}"', {}, "leave the quotes around them out"),
        ("sqlite:///s.db", good.replace("{start}", "'{start:%Y-%m-%d} 00:00'"), {}, "leave the quotes around them out"),
        ("env:SHOP", good.replace("{end}", "{end:days}"), {}, "write a format"),
        ("env:SHOP", good, {"id": "id"}, "changed= names the column"),
        ("env:SHOP", good, {"deleted": ""}, "deleted: '' is no column"),
        ("env:SHOP", good, {"rows": sources.events(id="n", operation="op", within="1d")}, "is for files, tables and topics"),
    ]:
        with pytest.raises(DefinitionError, match=says) as caught:
            make(address, query, event_time="at", **more)
        assert "geheim" not in str(caught.value)
    assert sources.sql("postgresql://me@db/shop", good, event_time="at").address == "postgresql://db/shop"
    commented = f"{good} AND name <> 'a''b' -- it's {{start}} again\n AND \"x\" = ''"
    assert sources.sql("postgresql://me@db/shop", commented, event_time="at")  # no border stands in a text


def test_a_relative_path_is_below_the_folder_of_the_project(tmp_path: Path) -> None:
    query = "SELECT * FROM o WHERE at >= {start:s} AND at < {end:s}"
    assert sources.sql("sqlite:///shop.db", query, event_time="at").below(tmp_path).address == f"sqlite:///{tmp_path}/shop.db"
