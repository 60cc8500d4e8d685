"""The messages of a range of offsets, as they are in the topic."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import BrokerError, SourceError
from muntin.extensions.kafka.topics.client import ErrorLog, broker_error, client_key, to_consume
from muntin.sources.per_thread import of_this_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.extensions.kafka.source import KafkaSource
    from muntin.extensions.kafka.topics.checks import Range

MESSAGES = pa.schema(
    [
        ("value", pa.binary()),
        ("kafka_key", pa.binary()),
        ("kafka_partition", pa.int32()),
        ("kafka_offset", pa.int64()),
        ("kafka_timestamp", pa.timestamp("us", "UTC")),
    ]
)
_AT_ONCE, _WAIT_S, _SILENCE_S = 20_000, 0.2, 8.0


def messages(source: KafkaSource, wanted: Range) -> pa.Table:
    """The messages of a range, in order, with the columns `MESSAGES`.

    Offsets without a message, as compaction and transactions leave them, are passed over: reading ends by
    position, not by count. Messages that are gone are a `SourceError`.
    """
    if wanted.low == wanted.high:
        return MESSAGES.empty_table()
    client, error_log = _consumer(source)
    try:
        return _read(source, client, error_log, wanted)
    except (SourceError, BrokerError):
        _forget()
        raise


def _read(source: KafkaSource, client: Any, error_log: ErrorLog, wanted: Range) -> pa.Table:  # noqa: ANN401 - a Consumer
    from confluent_kafka import TopicPartition

    client.assign([TopicPartition(wanted.topic, wanted.partition, wanted.low)])
    at, heard, kafka_messages = wanted.low, time.monotonic(), list[Any]()
    while at < wanted.high:
        some = client.consume(min(_AT_ONCE, wanted.high - at), _WAIT_S)
        for one in some:
            if one.error() is not None and one.error().name() != "_PARTITION_EOF":
                raise _refused(source, wanted, at, error_log, one.error())
            if one.error() is None and one.offset() < wanted.high:
                kafka_messages.append(one)
            at = max(at, one.offset() + (one.error() is None))
        heard = time.monotonic() if some else heard
        if not some and time.monotonic() - heard > _SILENCE_S:
            raise broker_error(source, "_TIMED_OUT", error_log)
        if some and some[-1].error() is not None and at < wanted.high:
            raise SourceError(
                f"{wanted.address}: the topic ends at offset {at:,}, before the range does; was it made"
                " again? Nothing was read of it"
            )
    return _table(kafka_messages)


def _table(kafka_messages: Sequence[Any]) -> pa.Table:
    times = [stamp[1] * 1000 if stamp[0] else None for stamp in (one.timestamp() for one in kafka_messages)]
    columns = [
        pa.array([one.value() for one in kafka_messages], pa.binary()),
        pa.array([one.key() for one in kafka_messages], pa.binary()),
        pa.array([one.partition() for one in kafka_messages], pa.int32()),
        pa.array([one.offset() for one in kafka_messages], pa.int64()),
        pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC")),
    ]
    return pa.Table.from_arrays(columns, schema=MESSAGES)


def _refused(
    source: KafkaSource,
    wanted: Range,
    at: int,
    error_log: ErrorLog,
    error: Any,  # noqa: ANN401 - as above
) -> SourceError | BrokerError:
    if error.name() in ("_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"):
        return SourceError(
            f"{wanted.address}: the messages from offset {at:,} on are not in the topic; its retention"
            " removed them, or it was made again"
        )
    return broker_error(source, error.name(), error_log, error.str())


def _consumer(source: KafkaSource) -> tuple[Any, ErrorLog]:
    """This thread's client; another source, another process and other credentials get a new client."""
    which = client_key(source)
    thread_clients = of_this_thread("consumer")
    if thread_clients.get("which") != which:
        _forget()
        thread_clients.update(client=to_consume(source), which=which)
    return thread_clients["client"]  # type: ignore[no-any-return]


def _forget() -> None:
    """Close this thread's client: after an error its behaviour is undefined."""
    thread_clients = of_this_thread("consumer")
    client, which = thread_clients.pop("client", None), thread_clients.pop("which", (None,))
    if client is not None and which[0] == os.getpid():
        client[0].close()
