"""Ranges of messages as Parquet files for DuckDB, which opens them by their addresses.

The messages of a range of offsets, as they are in the topic.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from muntin.errors import BrokerError, SourceError
from muntin.extensions.kafka.checks import SCHEME, named, parsed
from muntin.extensions.kafka.client import ErrorLog, broker_error, client_key, to_consume
from muntin.extensions.kafka.json_fields import with_fields
from muntin.extensions.kafka.texts import decoded_texts, texts
from muntin.files.weighted_cache import WeightedCache
from muntin.sources.per_thread import of_this_thread

if TYPE_CHECKING:
    import numpy as np
    from fsspec import AbstractFileSystem

    from muntin.extensions.kafka.checks import Range
    from muntin.extensions.kafka.source import KafkaSource

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
    which = client_key(source)
    thread_clients = of_this_thread("consumer")
    if thread_clients.get("which") != which:
        _forget()
        thread_clients.update(client=to_consume(source), which=which)
    client, error_log = thread_clients["client"]
    try:
        return _read(source, client, error_log, wanted)
    except (SourceError, BrokerError):
        _forget()
        raise


def _read(source: KafkaSource, client: Any, error_log: ErrorLog, wanted: Range) -> pa.Table:  # noqa: ANN401 - a Consumer
    from confluent_kafka import TopicPartition

    client.assign([TopicPartition(wanted.topic, wanted.partition, wanted.low)])
    at, heard, kafka_messages = wanted.low, monotonic(), list[Any]()
    while at < wanted.high:
        some = client.consume(min(_AT_ONCE, wanted.high - at), _WAIT_S)
        for one in some:
            if one.error() is not None and one.error().name() != "_PARTITION_EOF":
                raise _refused(source, wanted, at, error_log, one.error())
            if one.error() is None and one.offset() < wanted.high:
                kafka_messages.append(one)
            at = max(at, one.offset() + (one.error() is None))
        heard = monotonic() if some else heard
        if not some and monotonic() - heard > _SILENCE_S:
            raise broker_error(source, "_TIMED_OUT", error_log)
        if some and some[-1].error() is not None and at < wanted.high:
            raise SourceError(
                f"{wanted.address}: the topic ends at offset {at:,}, before the range does; was it made"
                " again? Nothing was read of it"
            )
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


def _forget() -> None:
    """Close this thread's client: after an error its behaviour is undefined."""
    thread_clients = of_this_thread("consumer")
    client, which = thread_clients.pop("client", None), thread_clients.pop("which", (None,))
    if client is not None and which[0] == os.getpid():
        client[0].close()


KEPT_BYTES = 2**26
"""Of ranges that a task reads several times: for their columns, for their rows, for their bad messages."""
_AGAIN_S = 5  # until a broker that did not answer is asked again
_READINGS: dict[str, KafkaSource] = {}


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a range.

    Attributes:
        file: a Parquet file of the messages that are rows.
        number, offset: of each row; see `Decoded`.
        odd: the messages that are no rows.
    """

    file: bytes
    number: np.ndarray
    offset: np.ndarray
    odd: tuple[Odd, ...]

    @property
    def size(self) -> int:
        return len(self.file) + self.number.nbytes + self.offset.nbytes


_CONTENTS = WeightedCache[tuple[str, str], Content](KEPT_BYTES, lambda content: content.size)
_REFUSALS = WeightedCache[tuple[str, str], tuple[float, BrokerError]](1)


def content(source: KafkaSource, address: str) -> Content:
    """The content of a range, which never changes. Messages that are gone are a `SourceError`."""
    which = (reading(source), address)

    def read() -> Content:
        # a task that searches bad rows would wait once more
        if (refusal := _REFUSALS.get(which)) and monotonic() - refusal[0] < _AGAIN_S:
            raise refusal[1]
        try:
            decoding = decoded(source, messages(source, parsed(address)[1]))
            sink = pa.BufferOutputStream()
            pq.write_table(decoding.rows, sink, compression="zstd", use_dictionary=False)
            return Content(sink.getvalue().to_pybytes(), decoding.number, decoding.offset, decoding.odd)
        except BrokerError as wrong:
            _REFUSALS.keep(which, (monotonic(), wrong))
            raise

    return _CONTENTS.of(which, read)


def reading(source: KafkaSource) -> str:
    """The name of a way of reading messages, by which this process finds it when DuckDB opens an address."""
    facts = [
        source.broker,
        source.topic,
        source.value,
        source.key,
        sorted(source.fields.items()),
        source.connection,
        source.registry,
        source.tombstone,
    ]
    name = blake2b(repr([*facts, source.schema]).encode(), digest_size=8).hexdigest()
    _READINGS[name] = source
    return name


def opened_as(source: KafkaSource, path: str) -> str:
    """An address with the name of the way of reading; the path of a copy on the disk as it is."""
    return named(path, reading(source)) if path.startswith(f"{SCHEME}://") else path


@cache
def file_system() -> AbstractFileSystem:
    """The file system of all topics. DuckDB takes no file system of another class."""
    from fsspec import AbstractFileSystem

    class Ranges(AbstractFileSystem):  # type: ignore[misc]  # as said
        protocol = SCHEME
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> io.BytesIO:
            name, wanted = parsed(_with_scheme(path))
            range_content = content(_READINGS[name], wanted.address)
            if range_content.odd:
                first = range_content.odd[0]
                raise SourceError(
                    f"offset {first.offset:,} of {wanted.topic}/{wanted.partition}: {first.reason}"
                )
            return io.BytesIO(range_content.file)

        def glob(self, path: str, **_: object) -> list[str]:
            return [path]

        def info(self, path: str, **_: object) -> dict[str, Any]:
            name, wanted = parsed(_with_scheme(path))
            return {"name": path, "size": len(content(_READINGS[name], wanted.address).file), "type": "file"}

        def exists(self, path: str, **_: object) -> bool:  # noqa: ARG002 - reading tells
            return True

        def modified(self, path: str) -> datetime:  # noqa: ARG002 - never
            """When it was written: a range never changes."""
            return datetime.fromtimestamp(0, UTC)

        def unstrip_protocol(self, name: str) -> str:
            return _with_scheme(name)

    return Ranges()


def _with_scheme(path: str) -> str:
    return path if path.startswith(f"{SCHEME}://") else f"{SCHEME}://{path}"


@dataclass(frozen=True, slots=True)
class Odd:
    """A message that is no row.

    Attributes:
        number: in its range, from 0.
        offset: in its partition.
        reason: why.
        column: that it is about; None: the whole message.
        text: the value as it is; a byte that is no UTF-8 by its number.
    """

    number: int
    offset: int
    reason: str
    column: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of a range.

    Attributes:
        rows: the rows that can be read: the fields, `kafka_key`, `kafka_partition`, `kafka_offset` and
            `kafka_timestamp`.
        number: of each of these rows in its range, from 0.
        offset: of each of these rows.
        odd: the messages that are no rows.
    """

    rows: pa.Table
    number: np.ndarray
    offset: np.ndarray
    odd: tuple[Odd, ...]


def decoded(source: KafkaSource, messages: pa.Table) -> Decoded:
    """The rows of messages. `messages`: as `MESSAGES` has them, in order."""
    faults: dict[int, tuple[str, str | None]] = {}
    table = messages.append_column("muntin_number", pa.array(range(len(messages)), pa.int64()))
    if source.key == "text":
        keys, wrong = texts(table["kafka_key"])
        faults |= {number: (f"the key: {why}", "kafka_key") for number, why in wrong.items()}
        table = table.set_column(table.schema.get_field_index("kafka_key"), "kafka_key", keys)
    if source.value != "raw":
        values, wrong = decoded_texts(source, table["value"])
        faults |= {number: (f"no {source.value}: {why}", None) for number, why in wrong.items()}
        values = pc.fill_null(values, source.tombstone) if source.tombstone else values
        table = table.set_column(table.schema.get_field_index("value"), "value", values)
    if source.fields:
        table, more = with_fields(source, _good(table, [*faults]))
        faults = more | faults
    else:
        table = _good(table.rename_columns({"value": "kafka_value"}), [*faults])
    odd = tuple(_odd(messages, number, *why) for number, why in sorted(faults.items()))
    number = table["muntin_number"].to_numpy()
    return Decoded(table.drop_columns(["muntin_number"]), number, table["kafka_offset"].to_numpy(), odd)


def _odd(messages: pa.Table, number: int, why: str, column: str | None) -> Odd:
    value = messages["value"][number].as_py()
    text = None if value is None else value.decode(errors="backslashreplace")
    return Odd(number, messages["kafka_offset"][number].as_py(), why, column, text)


def _good(table: pa.Table, bad: list[int]) -> pa.Table:
    if not bad:
        return table
    keep = [True] * len(table)
    for number in bad:
        keep[number] = False
    return table.filter(pa.array(keep))
