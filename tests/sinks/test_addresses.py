"""Where the address of a sink is: in connections and variables of the environment."""

import json
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from muntin import sinks
from muntin.extensions.kafka.sink_topic import settings_of
from muntin.extensions.mysql import sink as mysql_sink
from muntin.extensions.postgres.table import conninfo
from muntin.extensions.redis import sink as redis_sink
from muntin.files.connections import Connection
from muntin.sinks.addresses import of_environment, reached
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import BlockedError, SinkError

REACH = Reach(of_environment)
FACTS = {"conn_type": "postgres", "host": "db.example", "port": 5433, "login": "muntin", "password": "g:e@h", "schema": "warehouse"}
WANTED = {"host": "db.example", "port": "5433", "user": "muntin", "password": "g:e@h", "dbname": "warehouse", "sslmode": "require"}


@pytest.mark.parametrize(
    "text",
    [
        "postgres://muntin:g%3Ae%40h@db.example:5433/warehouse?sslmode=require",
        "postgresql://muntin:g%3Ae%40h@db.example:5433/warehouse?__extra__=%7B%22sslmode%22%3A+%22require%22%7D",
        json.dumps({**FACTS, "extra": {"sslmode": "require", "iam": True}}),
        json.dumps({**FACTS, "extra": '{"sslmode": "require"}'}),
    ],
)
def test_a_connection_of_postgres(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", text)
    assert conninfo_to_dict(conninfo("warehouse", REACH)) == WANTED


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2", "jdbc:postgresql"])
def test_a_variable_with_an_address_of_postgres(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("WAREHOUSE", f"{scheme}://muntin:g%3Ae%40h@db.example:5433/warehouse?sslmode=require")
    assert conninfo_to_dict(conninfo("env:WAREHOUSE", REACH)) == WANTED


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("one:9092,two:9092", {"bootstrap.servers": "one:9092,two:9092"}),
        ('{"bootstrap.servers": "one:9092", "sasl.password": "geheim"}', {"bootstrap.servers": "one:9092", "sasl.password": "geheim"}),
    ],
)
def test_a_variable_with_brokers(monkeypatch: pytest.MonkeyPatch, text: str, settings: dict[str, Any]) -> None:
    monkeypatch.setenv("BROKERS", text)
    assert settings_of("env:BROKERS", REACH) == settings


def test_a_connection_of_kafka_without_what_readers_set() -> None:
    extra = {"bootstrap.servers": "one:9092", "group.id": "g", "auto.offset.reset": "earliest"}
    reach = Reach(lambda _: Connection("kafka", extra=extra))
    assert settings_of("events", reach) == {"bootstrap.servers": "one:9092"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "the environment has no AIRFLOW_CONN_WAREHOUSE"),
        ("{geheim", "AIRFLOW_CONN_WAREHOUSE is no connection"),
        ("mysql://muntin:geheim@db/x", "is of type mysql; make it one of type"),
    ],
)
def test_no_such_connection(monkeypatch: pytest.MonkeyPatch, text: str | None, words: str) -> None:
    if text:
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", text)
    for settings in (lambda: conninfo("warehouse", REACH), lambda: settings_of("warehouse", REACH)):
        with pytest.raises(SinkError, match=words) as told:
            settings()
        assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "mysql+pymysql://muntin:g%3Ae%40h@db.example:3307/warehouse?ssl_ca=/etc/ca.pem",
        json.dumps(FACTS | {"conn_type": "mysql", "port": 3307, "extra": {"ssl_ca": "/etc/ca.pem"}}),
    ],
)
def test_an_address_of_mysql(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    name = "AIRFLOW_CONN_SHOP" if text.startswith("{") else "SHOP"
    monkeypatch.setenv(name, text)
    found = mysql_sink._settings(reached("shop" if name != "SHOP" else "env:SHOP", REACH, mysql_sink.KINDS, mysql_sink.EXAMPLE))
    told = {name: found[name] for name in ("host", "port", "user", "password", "database", "ssl_ca")}
    assert [*told.values()] == ["db.example", 3307, "muntin", "g:e@h", "warehouse", "/etc/ca.pem"]


@pytest.mark.parametrize(
    ("text", "secure"), [("redis://:g%3Ae%40h@cache.example:6380/3", False), ("rediss://:g%3Ae%40h@cache.example:6380/3", True)]
)
def test_an_address_of_redis(monkeypatch: pytest.MonkeyPatch, text: str, secure: bool) -> None:
    monkeypatch.setenv("CACHE", text)
    found = redis_sink._settings(reached("env:CACHE", REACH, redis_sink.KINDS, redis_sink.EXAMPLE))
    told = [found.get(name) for name in ("host", "port", "db", "username", "password", "ssl")]
    assert told == ["cache.example", 6380, 3, None, "g:e@h", secure or None]


@pytest.mark.parametrize(
    ("address", "text", "words"),
    [
        ("env:STORE", None, "the environment has no STORE"),
        ("env:STORE", "postgres://muntin:geheim@db/x", "the address in env:STORE is not one of this kind of server; write redis://"),
        ("store", "postgres://muntin:geheim@db/x", "is of type postgres; make it one of type redis"),
    ],
)
def test_no_such_store(monkeypatch: pytest.MonkeyPatch, address: str, text: str | None, words: str) -> None:
    if text:
        monkeypatch.setenv("AIRFLOW_CONN_STORE" if address == "store" else "STORE", text)
    with pytest.raises(SinkError, match=words) as told:
        reached(address, REACH, redis_sink.KINDS, redis_sink.EXAMPLE)
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    ("sink", "address", "words"),
    [
        (sinks.redis("env:STORE", "t"), "redis://:geheim@127.0.0.1:9/0", "see that the server is up"),
        (sinks.mysql("env:STORE", table="t"), "mysql://muntin:geheim@127.0.0.1:9/x", "see that the server is up"),
        (sinks.mysql("env:STORE", table="t"), "mysql://muntin:geheim@127.0.0.1:9", "the address names no database"),
    ],
)
def test_a_store_that_is_down(monkeypatch: pytest.MonkeyPatch, sink: Any, address: str, words: str) -> None:
    monkeypatch.setenv("STORE", address)
    with pytest.raises(SinkError, match=words) as told, sink.opened("shop", REACH) as opened:
        opened.position(None)
    assert (isinstance(told.value, BlockedError), "geheim" in str(told.value)) == (False, False)


def test_a_password_that_is_wrong(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE", f"redis://:falsch@{cache.partition('@')[2]}")
    with pytest.raises(SinkError, match="see that the server is up") as told, sinks.redis("env:STORE", "t").opened("shop", REACH) as opened:
        opened.position(None)
    assert "falsch" not in str(told.value)


def test_a_connection_is_never_shown() -> None:
    assert "geheim" not in repr(Connection("postgres", password="geheim"))  # noqa: S106 - of nobody
