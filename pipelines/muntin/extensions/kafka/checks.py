"""Checks of a source of messages: its address, its fields and its schema, before a broker is asked.

Ranges of offsets of a partition, and their addresses:

`kafka://orders/3/100-20000` is what the offsets from 100 to 19999 hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

SCHEME = "kafka"
PIECE = 50_000
"""Offsets of the largest range that is read at once."""
MESSAGE_BYTES = 256
"""What a message counts as where work is dealt out by bytes; its size is unknown before it is read."""
_ADDRESS = re.compile(
    r"kafka://(?:(?P<reading>[0-9a-f]{16})@)?(?P<topic>[^/@]+)/(?P<partition>\d+)/(?P<low>\d+)-(?P<high>\d+)"
)


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The messages of a partition with offsets in `[low, high)`. Some offsets may have no message."""

    topic: str
    partition: int
    low: int
    high: int

    @property
    def address(self) -> str:
        """How it is called in manifests, reports and the quarantine."""
        return f"{SCHEME}://{self.topic}/{self.partition}/{self.low}-{self.high}"

    @property
    def size(self) -> int:
        return (self.high - self.low) * MESSAGE_BYTES

    def pieces(self) -> Iterator[Range]:
        """The offsets of the range in ranges of at most `PIECE`: a function of the range alone.

        >>> [each.address for each in Range("a", 0, 10, 60_000).pieces()]
        ['kafka://a/0/10-50010', 'kafka://a/0/50010-60000']
        """
        for low in range(self.low, self.high, PIECE):
            yield Range(self.topic, self.partition, low, min(low + PIECE, self.high))


def is_address(path: str) -> bool:
    """Whether a path is the address of a range."""
    return path.startswith(f"{SCHEME}://")


def named(address: str, reading: str) -> str:
    """An address with the name of a way of reading, which only DuckDB gets to see.

    >>> named("kafka://a/0/1-2", "0123456789abcdef")
    'kafka://0123456789abcdef@a/0/1-2'
    """
    return address.replace("://", f"://{reading}@", 1)


def parsed(address: str) -> tuple[str, Range]:
    """The name of the way of reading ("" if it has none), and the range of an address."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ValueError(address)
    return match["reading"] or "", Range(
        match["topic"], int(match["partition"]), int(match["low"]), int(match["high"])
    )


VALUE = "kafka_value"
"""The column of a value that has no fields."""
_FIELDS = ("json", "avro", "protobuf", "debezium")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_BROKERS = re.compile(r"[^\s,:/@]+:\d+(,[^\s,:/@]+:\d+)*")


def check_address(broker: object, topic: object) -> None:
    """Refuse what is no address of a broker, or no name of a topic.

    An address with a password is not repeated.
    """
    if not isinstance(broker, str) or not _BROKERS.fullmatch(broker):
        shown = repr(broker) if "@" not in str(broker) else "the address"
        raise DefinitionError(
            f'sources.kafka: {shown} is no address of a broker; write "broker:9092", and give credentials by'
            ' connection="kafka_default"'
        )
    if not isinstance(topic, str) or not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise DefinitionError(
            f"sources.kafka: {topic!r} is no name of a topic: letters, digits, '.', '_' and '-'"
        )


def checked_fields(value: str, columns: Mapping[str, str] | None) -> dict[str, str]:
    """The fields of values, with their types; none of values that have no fields."""
    if value not in _FIELDS:
        if columns:
            raise DefinitionError(f"columns: a value that is {value!r} has no fields; its column is {VALUE}")
        return {}
    if not columns:
        raise DefinitionError(
            'columns: say which fields of a value are read, and their SQL types, as columns={"amount":'
            f' "DOUBLE", "at": "TIMESTAMPTZ"}}; to guess them from some messages of {value} would give other'
            " results with other messages"
        )
    small = [name.lower() for name in columns]
    for name in columns:
        if (
            not isinstance(name, str)
            or not name
            or name.lower().startswith(("kafka_", "muntin_"))
            or small.count(name.lower()) > 1
        ):
            raise DefinitionError(
                f"columns: {name!r} is not possible; names differ in more than capitals, and begin not with"
                " kafka_ or muntin_"
            )
    return dict(columns)


def check_column(what: str, name: object, columns: Sequence[str]) -> None:
    """Refuse a column that messages do not have; `what` names it."""
    if name not in columns:
        near = did_you_mean(str(name), columns)
        raise DefinitionError(
            f"{what}: no column {name!r} in the messages; there are {', '.join(columns)}{near}"
        )


def check_schema(value: str, registry: str | None, schema: object) -> None:
    """Refuse a registry or a schema that values cannot have, or need and lack."""
    if registry is not None and not str(registry).startswith(("http://", "https://", "mock://")):
        raise DefinitionError(
            f'registry: {registry!r} is no address of a schema registry; write "http://registry:8081"'
        )
    if registry is not None and "@" in registry:
        raise DefinitionError(
            'registry: the address holds a password; put "registry.basic.auth.user.info" into the extra of'
            " the connection"
        )
    if value in ("avro", "debezium"):
        if value == "avro" and registry is None and schema is None:
            raise DefinitionError(
                'value="avro" needs registry="http://registry:8081", or the schema of all messages as'
                " schema='{\"type\": ...}'"
            )
        if schema is not None:
            try:
                json.loads(schema)  # type: ignore[arg-type]
            except (ValueError, TypeError):
                raise DefinitionError(
                    f"schema: {str(schema)[:60]!r} is no JSON; give the schema of Avro as a text"
                ) from None
    elif value == "protobuf":
        if not hasattr(schema, "FromString"):
            raise DefinitionError('value="protobuf" needs schema=, the class of a message that protoc made')
    elif schema is not None or (registry is not None and value != "json"):
        raise DefinitionError(f"schema= and registry= are for avro and protobuf; the values here are {value}")
