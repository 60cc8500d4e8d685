"""Sinks under test, a class each: how it is declared, what it holds, what it refuses, and what people do to it.

A new sink joins the tests of `test_what_is_sent.py` by a class here, in `PLACES`.
"""

import json
import re
import sqlite3
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import psycopg
import pyarrow as pa
import pytest

from muntin import sinks
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from tests.kafka_broker import Broker
from tests.maria_server import connected
from tests.redis_server import client
from tests.sinks.test_kafka import known_topic, messages
from tests.storage.three_batches import HOUR, START

Held = dict[tuple[str | None, datetime], Any]
"""Key and start of a window -> the value of a result."""
LONG = "".join(chr(0x4E00 + 7 * at % 20_000) for at in range(9_000))


class Place:
    """A sink: what the table of tests needs to know of it."""

    refuses: ClassVar[Mapping[str, tuple[str, Any, str]]] = {}
    """Name -> the key and the value of a window that it refuses, and the column that is to blame."""
    damages: ClassVar[Mapping[str, str]] = {}
    """What people do to it -> the words that the next run says."""

    ledger: ClassVar[tuple[str, str]] = ("", "")
    """What keeps a copy of the ledger that the sink has itself, and what puts the copy in its place; "": it has none."""

    takes_all_or_none: ClassVar[bool] = False
    """Whether changes that are refused leave it as it was."""

    keeps_newest: ClassVar[bool] = False
    """Whether it is declared with `latest=True` on request."""

    value: str = "v"
    """The result that `held` tells."""

    def sink(self, **more: Any) -> Any:
        """The declaration."""
        raise NotImplementedError

    def held(self) -> Held:
        """The windows that somebody has who follows the sink from its beginning."""
        raise NotImplementedError

    def damage(self, what: str) -> None:
        """Do one of `damages`."""


@dataclass
class Table(Place):
    """A table of PostgreSQL."""

    database: str
    takes_all_or_none = keeps_newest = True
    ledger = (
        "CREATE TABLE kept AS SELECT * FROM muntin_ledger",
        "DELETE FROM muntin_ledger; INSERT INTO muntin_ledger SELECT * FROM kept",
    )
    refuses: ClassVar = {
        "NUL in a key": ("bad\0key", "x", "k"),
        "NUL in a result": ("bad", "x\0y", "v"),
        "a key that no index holds": (LONG, "x", "k"),
    }
    damages: ClassVar = {
        "DROP TABLE t": "table t was dropped",
        "DELETE FROM t": "table t has 0 of 2 rows",
        "TRUNCATE t": "table t has 0 of 2 rows",
        "DELETE FROM t WHERE k = 'a'": "table t has 1 of 2 rows",
        "ALTER TABLE t DROP COLUMN v": "column v of table t was text, and is gone",
        "ALTER TABLE t ALTER v TYPE varchar(3) USING left(v, 3)": "column v was character varying(3), and the windows have text",
        "DROP TABLE t; CREATE TABLE t (k text, window_start timestamptz, window_end timestamptz, UNIQUE (k, window_start, window_end))": (
            "table t was made again"
        ),
        "DROP TABLE t, muntin_ledger": "it does not know any more what it has",
    }

    def sink(self, **more: Any) -> Any:
        return sinks.postgres("env:WAREHOUSE", table="t", **more)

    def held(self) -> Held:
        with psycopg.connect(self.database, options="-c TimeZone=UTC") as connection:
            if connection.execute("SELECT to_regclass('t')").fetchone() == (None,):
                return {}
            return {(k, start): v for k, start, v in connection.execute(f"SELECT k, window_start, {self.value} FROM t").fetchall()}

    def damage(self, what: str) -> None:
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(what)


@dataclass
class Topic(Place):
    """A topic of Kafka, read by somebody who keeps the message with the largest revision."""

    broker: Broker
    topic: str
    refuses: ClassVar = {"2 MB in a result": ("bad", "x" * 2_000_000, "v"), "2 MB in a key": ("bad" + "x" * 2_000_000, "x", "k")}
    damages: ClassVar = {"deleted and made again": "was deleted and made again"}

    def sink(self, **more: Any) -> Any:
        return sinks.kafka("env:BROKERS", self.topic, **more)

    def held(self) -> Held:
        found: dict[Any, Any] = {}
        for one in messages(self.broker, self.topic):
            place = one.key["k"], datetime.fromisoformat(one.key["window_start"])
            if place not in found or one.value["revision"] >= found[place]["revision"]:
                found[place] = one.value
        return {place: value["v"] for place, value in found.items() if value["change"] != "gone"}

    def damage(self, what: str) -> None:  # noqa: ARG002 - the only one
        self.broker.again(self.topic)


@dataclass
class MariaTable(Place):
    """A table of MariaDB, which takes packets of 1 MB."""

    address: str
    takes_all_or_none = keeps_newest = True
    ledger = ("CREATE TABLE kept AS SELECT * FROM muntin_ledger", "REPLACE INTO muntin_ledger SELECT * FROM kept")
    refuses: ClassVar = {"2 MB in a result": ("bad", "x" * 2_000_000, "v"), "2 MB in a key": ("bad" + "x" * 2_000_000, "x", "k")}
    damages: ClassVar = {
        "DROP TABLE t": "table t was dropped",
        "DELETE FROM t": "table t has 0 of 2 rows",
        "TRUNCATE t": "table t has 0 of 2 rows",
        "DELETE FROM t WHERE k = 'a'": "table t has 1 of 2 rows",
        "ALTER TABLE t DROP COLUMN v": "column v of table t was longtext, and is gone",
        "ALTER TABLE t MODIFY v varchar(6)": "column v of table t was longtext, and is varchar(6)",
        "DROP TABLE t, muntin_ledger": "it does not know any more what it has",
        "DROP TABLE muntin_ledger": "it does not know any more what it has",
    }

    def sink(self, **more: Any) -> Any:
        return sinks.mysql("env:SHOP", table="t", **more)

    def held(self) -> Held:
        with connected(self.address) as connection, connection.cursor() as cursor:
            if not cursor.execute("SHOW TABLES LIKE 't'"):
                return {}
            cursor.execute(f"SELECT k, window_start, {self.value} FROM t")
            return {(k, start.replace(tzinfo=UTC)): json.loads(v) if str(v)[:1] == "[" else v for k, start, v in cursor.fetchall()}

    def damage(self, what: str) -> None:
        with connected(self.address) as connection:
            connection.cursor().execute(what)


@dataclass
class Keys(Place):
    """Keys of Redis; the largest text that the server takes is 1 MB."""

    address: str
    keeps_newest = True
    ledger = ("copy t kept replace", "copy kept t replace")
    refuses: ClassVar = {"2 MB in a result": ("bad", "x" * 2_000_000, "v"), "2 MB in a key": ("bad" + "x" * 2_000_000, "x", "k")}
    damages: ClassVar = {
        "flushdb": "it does not know any more what it has",
        f"del t/a/{START.isoformat()}/{(START + HOUR).isoformat()}": "it has 1 of 2 keys",
    }

    def sink(self, **more: Any) -> Any:
        return sinks.redis("env:CACHE", "t", **more)

    def held(self) -> Held:
        with client(self.address) as redis:
            rows = [json.loads(redis.get(name)) for name in redis.scan_iter("t/*")]
        return {(row["k"], datetime.fromisoformat(row["window_start"])): row[self.value] for row in rows}

    def damage(self, what: str) -> None:
        with client(self.address) as redis:
            redis.execute_command(*what.split(" "))


@dataclass
class Function(Place):
    """A function, which keeps what it is given."""

    rows: Held = field(default_factory=dict)

    def write(self, changes: pa.Table, version: int) -> None:  # noqa: ARG002 - as the sink calls it
        for row in changes.to_pylist():
            place = row["k"], row["window_start"]
            self.rows[place] = row["v"]
            if row["change"] == "gone":
                del self.rows[place]

    def sink(self, **more: Any) -> Any:
        return sinks.spark(self.write, **more)

    def held(self) -> Held:
        return self.rows


@dataclass
class Own(Place):
    """The sink of docs/sinks.md that a user might write."""

    made: Any
    takes_all_or_none = True
    ledger = ("CREATE TABLE kept AS SELECT * FROM ledger", "REPLACE INTO ledger SELECT * FROM kept")
    refuses: ClassVar = {"2 MB in a result": ("bad", "x" * 2_000_000, "v"), "2 MB in a key": ("bad" + "x" * 2_000_000, "x", "k")}
    damages: ClassVar = {"DELETE FROM ledger": "it does not know any more what it has"}

    def sink(self, **more: Any) -> Any:
        return replace(self.made, **more)

    def held(self) -> Held:
        with closing(sqlite3.connect(self.made.file)) as database:
            rows = [json.loads(value) for (value,) in database.execute("SELECT value FROM windows")]
        return {(row["k"], datetime.fromisoformat(row["window_start"])): row["v"] for row in rows}

    def damage(self, what: str) -> None:
        with closing(sqlite3.connect(self.made.file, isolation_level=None)) as database:
            database.execute(what)


def blocks_of_the_page() -> list[str]:
    """The Python of docs/sinks.md."""
    page = Path(__file__).parents[2] / "docs/sinks.md"
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def _own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    names = types.ModuleType("own_sink")
    monkeypatch.setitem(sys.modules, "own_sink", names)  # where dataclasses look for it
    (block,) = (each for each in blocks_of_the_page() if "class SqliteSink" in each)
    exec(compile(block, "docs/sinks.md", "exec"), names.__dict__)  # noqa: S102 - our own page
    return Own(names.SqliteSink(str(request.getfixturevalue("tmp_path") / "windows.db")))


@contextmanager
def _session() -> Iterator[Any]:
    """As much of a Spark session as a sink uses: a DataFrame is a table of Arrow."""
    yield SimpleNamespace(createDataFrame=lambda rows: rows)


REACH = Reach(of_environment, _session)


def _table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("WAREHOUSE", database := request.getfixturevalue("database"))
    return Table(database)


def _topic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    broker: Broker = request.getfixturevalue("kafka")
    monkeypatch.setenv("BROKERS", broker.address)
    return Topic(broker, known_topic(broker))


def _maria_table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("SHOP", address := request.getfixturevalue("shop_database"))
    return MariaTable(address)


def _keys(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("CACHE", address := request.getfixturevalue("cache"))
    return Keys(address)


PLACES: dict[type[Place], Callable[[pytest.FixtureRequest, pytest.MonkeyPatch], Place]] = {
    Table: _table,
    MariaTable: _maria_table,
    Topic: _topic,
    Keys: _keys,
    Own: _own,
    Function: lambda _request, _patch: Function(),
}


def alike(published: Any, held: Any) -> bool:
    """Whether a value is the published value, as JSON spells it or as it is."""
    if isinstance(published, Decimal):
        return Decimal(held) == published
    if isinstance(published, float | int | str | None):
        return held == published
    return held in (published, json.loads(json.dumps(published, default=str)))
