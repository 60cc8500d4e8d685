"""Commands over a pipeline that reads a topic."""

import json
from pathlib import Path

import pytest

from muntin.cli.main import main
from tests.kafka_broker import Broker
from tests.topics.orders import FIELDS, ms, order, pipeline, ran, rows_read, topic_of

DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates, sources, windows

orders = Pipeline(
    name="orders",
    source=sources.kafka({address!r}, {topic!r}, value="json", columns={fields!r}, event_time="at"),
    keys=[],
    schedule="1h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={{"hour": windows.tumbling("1h", grace="100h")}},
    aggregates={{"n": aggregates.count(), "total": aggregates.sum("amount")}},
)
"""
HOURS = ["--start", "2024-01-01", "--end", "2024-01-01T03:00"]


def test_each_command_knows_topics(kafka: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = kafka.topic()
    file, root = tmp_path / "orders.py", str(tmp_path / "state")
    file.write_text(DEFINITION.format(address=kafka.address, topic=topic, fields=FIELDS), encoding="utf-8")
    kafka.produce(topic, {0: [order(1, 0.1), ("k", b"{odd", ms(0.2)), order(2, 1.1)]})

    def said(command: str, *more: str) -> str:
        assert main([command, str(file), *more, "--root", root]) == 0, capsys.readouterr()
        return capsys.readouterr().out

    assert f"fit kafka://{kafka.address}/{topic}" in said("check")
    planned = json.loads(said("plan", *HOURS, "--json"))["batches"]
    assert [each["reading"] for each in planned] == ["new"] * 3
    assert [each["files"] for each in planned] == [[f"kafka://{topic}/0/0-2"], [f"kafka://{topic}/0/2-3"], []]
    assert not list((tmp_path / "state").rglob("*.parquet"))
    assert rows_read(ran(pipeline(topic_of(kafka, topic)), root, 0, 3)) == [2, 1, 0]
    assert [each["reading"] for each in json.loads(said("plan", *HOURS, "--json"))["batches"]] == ["unchanged"] * 3
    assert f"kafka://{topic}/0/0-2" in said("show", "--quarantine")
    for command in (
        ["plan", *HOURS[2:]],
        ["show", "--quarantine", "--retry", "--dry-run"],
        ["status"],
        ["status", "--paths"],
        ["show", "--late"],
        ["show", "--timeline"],
        ["explain", "hour", "--at", "2024-01-01T00:00"],
        ["doctor", "--deep"],
        ["maintain", "--older-than", "0s"],
    ):
        assert said(*command)
    assert rows_read(ran(pipeline(topic_of(kafka, topic)), root, 0, 3)) == [2, 1, 0]
