"""A topic of Kafka gets each change at least once; who keeps the largest revision of each key has what readers know."""

import json
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from muntin import Pipeline, sinks
from muntin.extensions.kafka import sink_topic as sender
from muntin.extensions.kafka.sink import KafkaSink
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.case_counts import random_seeds
from tests.kafka_broker import PASSWORD, USER, Broker
from tests.storage.test_changes_since import Changing, rows_at, step

NOWHERE = "127.0.0.1:9"
Down = Callable[[], AbstractContextManager[None]]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a size are many, and messages go three at a time."""
    monkeypatch.setattr(compaction, "MANY", 2)
    monkeypatch.setattr(sender, "CHUNK", 3)


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> Down:
    """A stretch in which there are no brokers, and nobody waits long for them."""

    @contextmanager
    def nowhere() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setenv("BROKERS", NOWHERE)
            patch.setattr(sender, "CONNECT_S", 0.2)
            yield

    return nowhere


@dataclass(frozen=True)
class Sending(Changing):
    """As `Changing`; the windows `hours` go to a topic of the brokers that the variable BROKERS names."""

    topic: str = ""

    @property
    def pipeline(self) -> Pipeline:
        return replace(super().pipeline, to=sinks.kafka("env:BROKERS", self.topic, window="hours"))

    def sent(self) -> str:
        (one,) = send(bind(self.pipeline, self.folder / "state"))
        return one.line


@dataclass(frozen=True)
class Message:
    """A message as a consumer has it."""

    key: dict[str, Any]
    value: dict[str, Any]
    headers: dict[str, str]


def messages(broker: Broker, topic: str) -> list[Message]:
    """All messages of a topic of one partition, in order."""
    return list(_messages(broker, topic))


def _messages(broker: Broker, topic: str) -> Iterator[Message]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "tests", "enable.auto.commit": False})
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
    consumer.assign([TopicPartition(topic, 0, low)])
    left = high - low
    while left:
        found = consumer.consume(left, timeout=10)
        assert found
        left -= len(found)
        for one in found:
            headers = {name: value.decode() for name, value in one.headers()}
            yield Message(json.loads(one.key()), json.loads(one.value()), headers)
    consumer.close()


def kept(small: Sending, found: list[Message]) -> dict[tuple[Any, ...], tuple[str, ...]]:
    """What a consumer has that keeps the largest revision of each key, as `rows_at` says it."""
    largest: dict[str, Message] = {}
    for one in found:
        key = json.dumps(one.key)
        if key not in largest or one.value["revision"] >= largest[key].value["revision"]:
            largest[key] = one
    rows = [one.value for one in largest.values() if one.value["change"] != "gone"]
    names = [*small.pipeline.aggregates]
    return {(row["k"], row["window_start"], row["window_end"]): tuple(repr(row[name]) for name in names) for row in rows}


def readers_know(small: Sending) -> dict[tuple[Any, ...], tuple[str, ...]]:
    count = len(small.pipeline.aggregates)
    rows = rows_at(small, "hours", small.version("hours"))
    return {(k, start.isoformat(), end.isoformat()): values[:count] for (k, start, end), values in rows.items()}


def known_topic(broker: Broker) -> str:
    """A new topic that the broker tells of: it does so a moment after it has made it."""
    from confluent_kafka.admin import AdminClient

    name, admin = broker.topic(), AdminClient({"bootstrap.servers": broker.address})
    while name not in admin.list_topics(timeout=10).topics:
        sleep(0.05)
    return name


@pytest.fixture
def small(tmp_path: Path, kafka: Broker, monkeypatch: pytest.MonkeyPatch) -> Sending:
    monkeypatch.setenv("BROKERS", kafka.address)
    small = Sending(tmp_path, topic=known_topic(kafka))
    small.write_all()
    return small


@pytest.mark.parametrize("seed", random_seeds(15))
def test_any_history_with_brokers_that_come_and_go(small: Sending, kafka: Broker, down: Down, seed: int) -> None:
    chance = random.Random(seed)
    small.ran(0)
    for _ in range(6):
        with down() if chance.random() < 0.3 else nullcontext():
            small = step(small, chance)  # type: ignore[assignment]
    assert "not sent" not in small.sent()
    assert kept(small, messages(kafka, small.topic)) == readers_know(small)


# [-1h, 1h)   [0h, 2h)
# a 2         a 4        batches 0 and 1
# a 2         a 3        batch 1 holds one row, ü is gone from [0h, 2h)
def test_what_a_message_says(small: Sending, kafka: Broker) -> None:
    small.write(0, [5, None, 59.5])
    small.ran(0, 1)
    small.write(1, [75])
    small.ran(1)
    *_, changed, gone = messages(kafka, small.topic)
    window = {"window_start": "2024-01-01T00:00:00+00:00", "window_end": "2024-01-01T02:00:00+00:00"}
    assert changed.key == {"k": "a", **window}
    assert {name: changed.value[name] for name in (*changed.key, "n", "revision", "change")} == {
        **changed.key,
        "n": 3,
        "revision": 2,
        "change": "changed",
    }
    assert changed.headers == {"pipeline": "changing", "window": "hours", "revision": "2", "change": "changed"}
    assert gone.value == {"k": "ü", **window, "n": None, "total": None, "revision": 2, "change": "gone"}


def test_brokers_that_are_down(small: Sending, kafka: Broker, down: Down) -> None:
    with down():
        report = small.run("state", 0, 1)
    (line,) = report.sinks
    assert line.startswith(f"hours not sent to topic {small.topic} at env:BROKERS (127.0.0.1:9, topic {small.topic}: ")
    assert "see that the brokers are up" in line
    small.ran(2)
    assert kept(small, messages(kafka, small.topic)) == readers_know(small)


def test_brokers_that_say_nothing(small: Sending, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("BROKERS", f"127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(sender, "CONNECT_S", 60)
        monkeypatch.setattr(KafkaSink, "patience_us", 500_000)
        (line,) = small.run("state", 0, 0).sinks
    assert "no answer within 0.5 s" in line


def test_no_such_topic(small: Sending, kafka: Broker) -> None:
    (line,) = replace(small, topic="missing").run("state", 0, 0).sinks
    assert f"({kafka.address}, topic missing: there is no such topic; make it)" in line


def test_a_run_that_ends_before_its_note_sends_again(small: Sending, kafka: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("muntin.jobs.sending.catch_up.note_position", lambda *_: (_ for _ in ()).throw(MemoryError))
        small.ran(0)
    small.sent()
    found = messages(kafka, small.topic)
    assert found[: len(found) // 2] == found[len(found) // 2 :] != []


@pytest.mark.parametrize("password", [PASSWORD, "geheim"])
def test_brokers_that_ask_for_a_password(small: Sending, kafka: Broker, monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    settings = {
        "bootstrap.servers": kafka.secure,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": password,
        "ssl.ca.location": str(kafka.certificate),
    }
    monkeypatch.setenv("BROKERS", json.dumps(settings))
    monkeypatch.setattr(sender, "CONNECT_S", 3)
    (line,) = small.run("state", 0, 0).sinks
    assert ("not sent" in line) == ("Authentication failed" in line) == (password != PASSWORD)
    assert password not in line
