"""Send changes to Kafka: a message for each window that changed, at least once, with a revision number.

How far the topic is, is noted by the state once all messages are acknowledged. A run that ends in between sends them again: a consumer
keeps the message of a window with the largest revision.

key      {"origin":"JFK","window_start":"2013-01-01T00:00:00+00:00","window_end":"2013-01-01T06:00:00+00:00"}
value    {"origin":"JFK","window_start":...,"window_end":...,"flights":60,"revision":7,"change":"changed"}
headers  pipeline, window, revision, change
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.extras import need
from muntin.sinks.addresses import CONNECTION, VARIABLE, variable, without
from muntin.sinks.errors import SinkError
from muntin.sinks.json_values import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from confluent_kafka import Producer

    from muntin.sinks.declaration import KafkaSink
    from muntin.sinks.delivery import Delivery, Position, Reach

CONNECT_S = 5.0
CHUNK = 5_000
_WAIT_S = 0.2
_SETTINGS = {"enable.idempotence": True, "compression.type": "lz4", "linger.ms": 20, "message.timeout.ms": 10_000, "log_level": 0}
_SECRETS = ("password", "secret", "sasl.oauthbearer.config", "ssl.key.pem")


@contextmanager
def opened(sink: KafkaSink, reach: Reach) -> Iterator[KafkaTopic]:
    """A producer that has seen the topic.

    Raises:
        SinkError: no brokers, no topic, or the brokers refused a message.
        MissingPackageError: confluent-kafka is not installed.
    """
    need("confluent_kafka")
    from confluent_kafka import KafkaException, Producer

    said = list[str]()
    settings = {**_SETTINGS, **settings_of(sink.address, reach), "error_cb": lambda error: said.append(error.str())}
    place = f"{settings.get('bootstrap.servers', sink.address)}, topic {sink.topic}"
    secrets = [str(value) for name, value in settings.items() if any(word in name for word in _SECRETS)]
    producer = None
    try:
        producer = Producer(settings)
        _check_topic(producer, sink.topic, place)
        yield KafkaTopic(producer, sink.topic, place)
    except KafkaException as wrong:
        if producer:
            producer.poll(0)
        text = without(said[0] if said else wrong.args[0].str(), secrets)
        raise SinkError(f"{place}: {text}; see that the brokers are up and that the address is right") from None


def settings_of(address: str, reach: Reach) -> dict[str, Any]:
    """The settings of librdkafka that reach some brokers.

    Raises:
        SinkError: the variable or the connection is missing, or names no brokers.
    """
    found: Mapping[str, Any]
    if address.startswith(VARIABLE):
        text = variable(address)
        found = _object(text, address) if text.startswith("{") else {"bootstrap.servers": text}
    elif CONNECTION.fullmatch(address):
        connection = reach.connection(address)
        if connection.kind != "kafka":
            raise SinkError(f"the connection {address!r} is of type {connection.kind}; make it one of type kafka")
        found = connection.extra
    else:
        found = {"bootstrap.servers": address}
    if not found.get("bootstrap.servers"):
        raise SinkError(f'{address} names no brokers; give {{"bootstrap.servers": "broker:9092"}}')
    return {name: value for name, value in found.items() if not name.startswith(("group.", "auto.offset", "enable.auto"))}


def _object(text: str, place: str) -> Mapping[str, Any]:
    try:
        return json.loads(text)
    except ValueError:
        raise SinkError(f"{place} holds neither brokers nor JSON") from None


def _check_topic(producer: Producer, topic: str, place: str) -> None:
    """See that the topic exists: a producer would make it, with settings of nobody's choice, or wait for it."""
    known = producer.list_topics(timeout=CONNECT_S).topics
    if topic not in known:
        raise SinkError(f"{place}: there is no such topic; make it")


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """The topic of a sink, reached. See `Opened`."""

    producer: Producer
    topic: str
    place: str

    def position(self, noted: Position | None) -> Position | None:
        return noted

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> None:
        refused = list[str]()

        def answered(error: Any, _message: Any) -> None:  # noqa: ANN401 - confluent-kafka's
            if error is None:
                alive()
            else:
                refused.append(error.str())

        about = [("pipeline", delivery.pipeline.encode()), ("window", delivery.window.encode())]
        for first in range(0, len(delivery.rows), CHUNK):
            for row in delivery.rows.slice(first, CHUNK).to_pylist():
                key = as_json({name: row[name] for name in delivery.identity}).encode()
                marks = [("revision", str(row["revision"]).encode()), ("change", row["change"].encode())]
                self.producer.produce(self.topic, as_json(row).encode(), key, headers=[*about, *marks], on_delivery=answered)
            while self.producer.flush(_WAIT_S) and not refused:
                pass
            if refused:
                raise SinkError(f"{self.place}: {refused[0]}; see that the brokers are up and take messages")
