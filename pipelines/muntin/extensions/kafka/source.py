"""Topics of Kafka as a source, as a user defines it. Nothing is read here, and no client is imported."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.extensions.kafka.checks import (
    VALUE,
    Range,
    check_address,
    check_column,
    check_schema,
    checked_fields,
    is_address,
    parsed,
)
from muntin.old_names import old_names_refused
from muntin.sources.dialect import USUAL
from muntin.sources.envelopes import OPERATION, rows_of_changes, time_of_changes, types_of_changes
from muntin.sources.listing import SourceFile
from muntin.sources.repeated_rows import TOMBSTONE
from muntin.sources.row_source import RowSource, checked_terms
from muntin.sources.time_arguments import as_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsspec import AbstractFileSystem

    from muntin.definition.schedule import Schedule
    from muntin.sources.repeated_rows import Events
    from muntin.sources.source import Content, OnBadFile, OnSchema
    from muntin.sources.time_arguments import At

Value = Literal["json", "avro", "protobuf", "debezium", "text", "raw"]
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
    bundles = False
    call = "sources.kafka(...)"
    listing = "muntin.extensions.kafka.listing"
    message_columns: ClassVar[tuple[str, ...]] = OWN
    message_key: ClassVar[tuple[str, ...]] = ("kafka_key", "kafka_partition", "kafka_offset")

    @property
    def blank(self) -> str:
        return Range(self.topic, 0, 0, 0).address

    @property
    def address(self) -> str:
        return f"kafka://{self.broker}/{self.topic}"

    @property
    def is_json(self) -> bool:
        """Whether values are JSON as their writer wrote it."""
        return self.value == "json" or (self.value == "debezium" and self.registry is self.schema is None)

    @property
    def tombstone(self) -> str | None:
        """The value that a message without a value stands for: where rows change, the word of their operation
        for it.
        """
        column = self.changes.operation if self.changes else None
        return json.dumps({column: TOMBSTONE}) if column and self.fields.get(column) == "VARCHAR" else None

    def content(self, path: str) -> Content | None:
        from muntin.extensions.kafka.content import content

        return content(self, path) if is_address(path) else None

    def opened_as(self, path: str) -> str:
        """The address with the name of this way of reading; the path of a copy on the disk as it is."""
        from muntin.extensions.kafka.content import opened_as

        return opened_as(self, path)

    def file_systems(self, paths: Sequence[str]) -> Sequence[AbstractFileSystem]:
        from muntin.extensions.kafka.content import file_system

        return (file_system(),) if any(map(is_address, paths)) else ()

    def all_now(self, folder: str) -> list[SourceFile]:  # noqa: ARG002 - messages are read where they are
        from muntin.extensions.kafka.broker import Broker

        topic = Broker(self).topic()
        whole = (
            Range(self.topic, partition, topic.low[partition], high)
            for partition, high in sorted(topic.high.items())
        )
        return [SourceFile(piece.address, piece.size, 0) for each in whole for piece in each.pieces()]

    def settled(self, path: str) -> int:
        return parsed(path)[1].size

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - as for any source
        return {}

    def below(self, home: str | Path) -> KafkaSource:  # noqa: ARG002 - no part of it is a path
        return self

    def misfit(self, schedule: Schedule) -> None:  # noqa: ARG002 - each batch has offsets of its own
        """None: every offset belongs to one batch."""
        return


@old_names_refused
def kafka(
    broker: str,
    topic: str,
    *,
    value: Value,
    event_time: str | At | None = None,
    rows: Events | None = None,
    columns: Mapping[str, str] | None = None,
    key: Key = "text",
    arrival_order: str | None = None,
    arrival_time: str | None = None,
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
    tombstone) is a row with nulls; where `rows` has an operation, it repeats the delete before it.

    Args:
        broker: its address, as "broker:9092"; several with commas between.
        topic: its name.
        value: what values are: "json", "avro" or "protobuf" with fields, "debezium" with its messages, as
            JSON, or by `registry` or `schema` as Avro, "text" in UTF-8, or "raw" bytes.
        event_time: the column that says when an event happened: a field, or "kafka_timestamp"; `at("placed",
            unit="ms")` says how it is read. None of a dimension, whose rows are looked up.
        rows: how messages become facts, where not each message is an event: `events(dedupe="event_id")`, or
            `events(id="order_id", operation="op", within="30d")` of messages that later messages change.
        columns: field -> SQL type, of values with fields: {"amount": "DOUBLE", "at": "TIMESTAMPTZ"}. A value
            may lack a field, which is
            null then, and have further fields, which are not read. A message with a field of another type is
                a row of the quarantine: in
            JSON a number is no text, and a text no number.
        key: whether keys are "text" or "raw" bytes.
        arrival_order: a column that orders the rows of a batch by arrival; partition and offset unless given.
            A batch is then read by one task.
        arrival_time: the column that says when a row arrived, for windows that go by the clock, as
            "kafka_timestamp".
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
    time = as_at(event_time)
    if value == "debezium":
        rows, time = rows_of_changes(rows), time_of_changes(time)
        columns = columns and {OPERATION: "VARCHAR"} | types_of_changes(columns)
    fields = checked_fields(value, columns)
    for what, name in (
        ("event_time", time and time.column),
        ("arrival_order", arrival_order),
        ("arrival_time", arrival_time),
    ):
        if name is not None:
            check_column(what, name, (*(fields or (VALUE,)), *OWN))
    terms = checked_terms(time, rows, fields, arrival_order, arrival_time)
    check_schema(value, registry, schema)
    return KafkaSource(broker, topic, value, key, fields, connection, registry, schema, **terms)
