"""Send changes to Kafka: a message for each window that changed, at least once, with a revision number.

How far the topic is, is noted by the state once all messages are acknowledged, with the topic's id: a topic
that was deleted and made again has another. A run that ends in between sends them again: a consumer keeps the
message of a window with the largest revision.

key      {"origin":"JFK","window_start":"2013-01-01T00:00:00+00:00","window_end":"2013-01-01T06:00:00+00:00"}
value    {"origin":"JFK","window_start":...,"window_end":...,"flights":60,"revision":7,"change":"changed"}
headers  pipeline, window, revision, change
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.definition.extras import need
from muntin.files.connections import CONNECTION, without
from muntin.sinks.addresses import VARIABLE, variable
from muntin.sinks.errors import BlockedError, RefusedError, SinkError, as_json, plain_rows, widest
from muntin.sinks.misfits import Fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa
    from confluent_kafka import KafkaError, Producer

    from muntin.extensions.kafka.sink import KafkaSink
    from muntin.sinks.declaration import OnUnsupported
    from muntin.sinks.delivery import Delivery, Position, Reach

CONNECT_S = 5.0
CHUNK = 5_000
_WAIT_S = 0.2
_SETTINGS = {
    "enable.idempotence": True,
    "compression.type": "lz4",
    "linger.ms": 20,
    "message.timeout.ms": 10_000,
    "log_level": 0,
}
_OF_DATA = (
    "MSG_SIZE_TOO_LARGE",
    "RECORD_LIST_TOO_LARGE",
    "INVALID_RECORD",
    "INVALID_TIMESTAMP",
    "POLICY_VIOLATION",
)
_UNKNOWN_ID = "AAAAAAAAAAAAAAAAAAAAAA"  # brokers before 2.8 tell none
_SECRETS = ("password", "secret", "sasl.oauthbearer.config", "ssl.key.pem")


@contextmanager
def opened(sink: KafkaSink, reach: Reach) -> Iterator[KafkaTopic]:
    """A producer that has seen the topic."""
    need("confluent_kafka")
    from confluent_kafka import KafkaException, Producer

    said = list[str]()
    settings = {
        **_SETTINGS,
        **settings_of(sink.address, reach),
        "error_cb": lambda error: said.append(error.str()),
    }
    place = f"{settings.get('bootstrap.servers', sink.address)}, topic {sink.topic}"
    producer = None
    try:
        producer = Producer(settings)
        topics = producer.list_topics(timeout=CONNECT_S).topics
        if sink.topic not in topics:
            raise BlockedError(f"{place}: there is no such topic; make it")
        yield KafkaTopic(producer, sink.topic, place, _id_of(settings, sink.topic), sink.on_unsupported)
    except KafkaException as wrong:
        if producer:
            producer.poll(0)
        secrets = [str(value) for name, value in settings.items() if any(word in name for word in _SECRETS)]
        text = without(said[0] if said else wrong.args[0].str(), secrets)
        raise SinkError(
            f"{place}: {text}; see that the brokers are up and that the address is right"
        ) from None


def _id_of(settings: Mapping[str, Any], topic: str) -> str:
    """The id of a topic; "" where brokers give no id."""
    from confluent_kafka import KafkaException, TopicCollection
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(
        {name: value for name, value in settings.items() if name not in _SETTINGS or name == "log_level"}
    )
    try:
        description = admin.describe_topics(TopicCollection([topic]), request_timeout=CONNECT_S)[
            topic
        ].result(CONNECT_S)
    except (KafkaException, TimeoutError):  # as where the right to describe topics lacks
        return ""
    return "" if str(description.topic_id) == _UNKNOWN_ID else str(description.topic_id)


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """The topic of a sink, reached. See `Opened`."""

    producer: Producer
    topic: str
    place: str
    id: str
    on_unsupported: OnUnsupported

    def position(self, noted: Position | None) -> Position | None:
        if noted and noted.target and self.id and noted.target != self.id:
            return replace(noted, lost=f"topic {self.topic} was deleted and made again")
        return noted

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        fitted = Fitted(
            delivery, self.on_unsupported, lambda rows: self._produce(delivery, rows, alive), alive
        )
        for first in range(0, len(delivery.rows), CHUNK):
            fitted.put(delivery.rows.slice(first, CHUNK))
        return delivery.reached(self.id, fitted.misfits)

    def _produce(self, delivery: Delivery, rows: pa.Table, alive: Callable[[], None]) -> None:
        """Send messages, and wait until the brokers have them.

        A `RefusedError` for a message that is too large, or refused for another reason of its own.
        """
        from confluent_kafka import KafkaException

        refused: list[KafkaError] = []

        def answered(error: KafkaError | None, _message: Any) -> None:  # noqa: ANN401 - confluent-kafka's
            if error is None:
                alive()
            else:
                refused.append(error)

        about = [("pipeline", delivery.pipeline.encode()), ("window", delivery.window.encode())]
        plain = plain_rows(rows)
        for row in plain:
            key = as_json({name: row[name] for name in delivery.identity}).encode()
            marks = [("revision", str(row["revision"]).encode()), ("change", row["change"].encode())]
            message = {
                "value": as_json(row).encode(),
                "key": key,
                "headers": [*about, *marks],
                "on_delivery": answered,
            }
            try:
                self._queue(message)
            except KafkaException as wrong:
                refused.append(wrong.args[0])
        while self.producer.flush(_WAIT_S) and not refused:
            pass
        if outages := [error for error in refused if error.name() not in _OF_DATA]:
            raise SinkError(
                f"{self.place}: {outages[0].str()}; see that the brokers are up and take messages"
            )
        if refused:
            self.producer.flush()
            raise RefusedError(refused[0].str(), widest(plain[0]))

    def _queue(self, message: Mapping[str, Any]) -> None:
        """Hand a message to the producer, once there is room."""
        while True:
            try:
                return self.producer.produce(self.topic, **message)
            except BufferError:
                self.producer.poll(_WAIT_S)


def settings_of(address: str, reach: Reach) -> dict[str, Any]:
    """The settings of librdkafka that reach some brokers."""
    settings: Mapping[str, Any]
    if address.startswith(VARIABLE):
        text = variable(address)
        settings = _object(text, address) if text.startswith("{") else {"bootstrap.servers": text}
    elif CONNECTION.fullmatch(address):
        connection = reach.connection(address)
        if connection.kind != "kafka":
            raise SinkError(
                f"the connection {address!r} is of type {connection.kind}; make it one of type kafka"
            )
        settings = connection.extra
    else:
        settings = {"bootstrap.servers": address}
    if not settings.get("bootstrap.servers"):
        raise SinkError(f'{address} names no brokers; give {{"bootstrap.servers": "broker:9092"}}')
    return {
        name: value
        for name, value in settings.items()
        if not name.startswith(("group.", "auto.offset", "enable.auto"))
    }


def _object(text: str, place: str) -> Mapping[str, Any]:
    try:
        return json.loads(text)
    except ValueError:
        raise SinkError(f"{place} holds neither brokers nor JSON") from None
