"""Topics of Kafka as a source, as a user defines it. Nothing is read here, and no client is imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.extensions.kafka.topics.checks import (
    VALUE,
    check_address,
    check_column,
    check_schema,
    checked_fields,
)
from muntin.extensions.kafka.topics.ranges import Range, is_address, parsed
from muntin.sources.dialect import USUAL
from muntin.sources.listing import SourceFile
from muntin.sources.repeated_rows import checked_changes
from muntin.sources.row_source import RowSource, checked_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsspec import AbstractFileSystem

    from muntin.definition.durations import Duration
    from muntin.definition.schedule import Schedule
    from muntin.sources.row_source import Ambiguous, Nonexistent, Unit
    from muntin.sources.source import Content, OnBadFile, OnSchema

Value = Literal["json", "avro", "protobuf", "text", "raw"]
Key = Literal["text", "raw"]
OWN = ("kafka_key", "kafka_partition", "kafka_offset", "kafka_timestamp")
"""Columns of every message, beside the fields of its value."""


@dataclass(frozen=True, slots=True)
class KafkaSource(RowSource):
    """A topic of Kafka. See `kafka`."""

    broker: str
    topic: str
    value: Value
    key: Key = "text"
    fields: Mapping[str, str] = field(default_factory=dict)
    connection: str | None = None
    registry: str | None = None
    schema: object = None

    delimiter = None
    format = "kafka"
    separator = ","
    dialect = USUAL
    on_bad_file: ClassVar[OnBadFile] = "error"
    on_schema: ClassVar[OnSchema] = "error"
    checksum = bundles = False
    call = "sources.kafka(...)"
    listing = "muntin.extensions.kafka.listing"
    message_columns: ClassVar[tuple[str, ...]] = OWN
    message_key: ClassVar[tuple[str, ...]] = ("kafka_key", "kafka_partition", "kafka_offset")

    @property
    def blank(self) -> str:
        """No messages, with the columns that the definition says."""
        return Range(self.topic, 0, 0, 0).address

    @property
    def address(self) -> str:
        """The topic, for people and for lineage."""
        return f"kafka://{self.broker}/{self.topic}"

    def content(self, path: str) -> Content | None:
        """The messages of a range."""
        from muntin.extensions.kafka.topics.content import content

        return content(self, path) if is_address(path) else None

    def opened_as(self, path: str) -> str:
        """The address with the name of this way of reading; the path of a copy on the disk as it is."""
        from muntin.extensions.kafka.topics.content import opened_as

        return opened_as(self, path)

    def file_systems(self, paths: Sequence[str]) -> Sequence[AbstractFileSystem]:
        """The file system of all topics, where a path is an address of messages."""
        from muntin.extensions.kafka.topics.content import file_system

        return (file_system(),) if any(map(is_address, paths)) else ()

    def all_now(self) -> list[SourceFile]:
        """The ranges of all messages of the topic, by partition and offset."""
        from muntin.extensions.kafka.topics.broker import Broker

        topic = Broker(self).topic()
        whole = (
            Range(self.topic, partition, topic.low[partition], high)
            for partition, high in sorted(topic.high.items())
        )
        return [SourceFile(piece.address, piece.size, 0) for each in whole for piece in each.pieces()]

    def settled(self, path: str) -> int:
        """The size of a range of messages, in bytes."""
        return parsed(path)[1].size

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - as for any source
        """No facts apart from the columns."""
        return {}

    def below(self, home: str | Path) -> KafkaSource:  # noqa: ARG002 - no part of it is a path
        """This source: it has no path."""
        return self

    def misfit(self, schedule: Schedule) -> None:  # noqa: ARG002 - each batch has offsets of its own
        """None: every offset belongs to one batch."""
        return


def kafka(
    broker: str,
    topic: str,
    *,
    value: Value,
    event_time: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: Unit | None = None,
    timezone: str | None = None,
    ambiguous: Ambiguous = "quarantine",
    nonexistent: Nonexistent = "quarantine",
    time_format: str | None = None,
    key: Key = "text",
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    dedupe: str | Sequence[str] | None = None,
    dedupe_within: Duration | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the word of change streams
    operation: str | None = None,
    deletes: str | None = None,
    changes_within: Duration | None = None,
    connection: str | None = None,
    registry: str | None = None,
    schema: object = None,
) -> KafkaSource:
    """The messages of a topic of Kafka: each message is a row, and each offset belongs to one batch.

    A batch holds the offsets from the border of its start to the border of its end. A border is the first
    offset with a message of that time or later, by the time that the broker has (`kafka_timestamp`); where no
    such message is, the end of the topic. Borders are noted in the state before a message is read, so that a
    batch that is run again reads the same messages.

    Columns: the fields that `columns` names, or `kafka_value`; `kafka_key` (text, or bytes with key="raw"),
    `kafka_partition`, `kafka_offset` and `kafka_timestamp` (UTC, milliseconds). A message without a value (a
    tombstone) is a row with nulls.

    Args:
        broker: its address, as "broker:9092"; several with commas between.
        topic: its name.
        value: what values are: "json", "avro" or "protobuf" with fields, "text" in UTF-8, or "raw" bytes.
        event_time: the column that says when an event happened: a field, or "kafka_timestamp". None of a
            dimension, whose rows are looked up.
        columns: field -> SQL type, of values with fields: {"amount": "DOUBLE", "at": "TIMESTAMPTZ"}. A value
            may lack a field, which is
            null then, and have further fields, which are not read. A message with a field of another type is
                a row of the quarantine: in
            JSON a number is no text, and a text no number.
        unit: of an integer event time.
        timezone: the zone of event times that have none; UTC unless given.
        ambiguous: what a local time is that comes twice in the zone, as its clocks are set back: for the
            "quarantine", the "first" or the "second" showing; or by "arrival": rows in the order of
            `arrival_order` go back once in this hour, where the second begins.
        nonexistent: what a local time is that never was, as clocks are set forward: for the "quarantine"; or
            "shift", moved on by as much.
        time_format: how event times are written where they are text, as strptime takes it; ISO 8601 unless
            given.
        key: whether keys are "text" or "raw" bytes.
        arrival_order: a column that orders the rows of a batch by arrival; partition and offset unless given.
            A batch is then read by one task.
        arrival_time: the column that says when a row arrived, for windows that go by the clock, as
            "kafka_timestamp".
        dedupe: the column, or the columns, that tell events apart, as for `files`.
        dedupe_within: how far the event times of duplicates in two batches may lie apart, as for `files`.
        id: the column, or the columns, that name a row where later messages change it, as for `files`.
        operation: the column that tells what a message does to the row, as for `files`.
        deletes: SQL condition that tells which messages take a row back, as for `files`.
        changes_within: how long after its first message an id may still change, as for `files`.
        connection: the name of a connection of type kafka with the credentials: in the variable
            AIRFLOW_CONN_<NAME>, or in Airflow.
        registry: the address of a schema registry, by which messages of Avro and Protobuf name their schema.
        schema: of Avro the schema as JSON: the only one without a registry, else the schema to read by. Of
            Protobuf the class of a message.

    Raises:
        DefinitionError: an address, a name, a value or a combination that cannot be.
    """
    check_address(broker, topic)
    check_choice("value", value, get_args(Value))
    check_choice("key", key, get_args(Key))
    fields = checked_fields(value, columns)
    for what, name in (
        ("event_time", event_time),
        ("arrival_order", arrival_order),
        ("arrival_time", arrival_time),
    ):
        if name is not None:
            check_column(what, name, (*(fields or (VALUE,)), *OWN))
    changed = checked_changes(id, operation, deletes, changes_within, dedupe)
    terms = checked_terms(
        event_time,
        unit,
        timezone,
        ambiguous,
        nonexistent,
        fields,
        arrival_order,
        arrival_time,
        time_format,
        dedupe,
        dedupe_within,
        changed,
    )
    check_schema(value, registry, schema)
    return KafkaSource(broker, topic, value, key, fields, connection, registry, schema, **terms)
