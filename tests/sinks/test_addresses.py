"""Where the address of a sink is: in connections and variables of the environment."""

import json
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from muntin.files.connections import Connection
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError
from muntin.sinks.kafka_address import settings_of
from muntin.sinks.postgres_address import conninfo

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
    for reached in (lambda: conninfo("warehouse", REACH), lambda: settings_of("warehouse", REACH)):
        with pytest.raises(SinkError, match=words) as told:
            reached()
        assert "geheim" not in str(told.value)


def test_a_connection_is_never_shown() -> None:
    assert "geheim" not in repr(Connection("postgres", password="geheim"))  # noqa: S106 - of nobody
