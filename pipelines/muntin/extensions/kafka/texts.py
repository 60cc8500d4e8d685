"""The values of messages as texts: as they are, or what Avro and Protobuf say, as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import BrokerError
from muntin.extensions.kafka.client import REGISTRY, settings
from muntin.extensions.kafka.json_fields import spelled
from muntin.extensions.kafka.source import KafkaSource
from muntin.sources.envelopes import flattened, in_json
from muntin.sources.nested_types import element, map_types, members, plain_name

Faults = dict[int, str]
"""Number of a message -> why it cannot be read."""
_FRAMED, _HEADER = 0, 5  # the first byte of a message that names its schema, and the bytes that do
_REGISTRY_S = 5


def texts(values: pa.ChunkedArray) -> tuple[pa.Array, Faults]:
    """Bytes as texts; null where they are no UTF-8, with the reason."""
    with suppress(pa.ArrowInvalid):
        return pc.cast(values, pa.string()), {}
    return _each(values, lambda value: value.decode())


def decoded_texts(source: KafkaSource, values: pa.ChunkedArray) -> tuple[pa.Array, Faults]:
    """The values of a source as texts of JSON; null for a tombstone and for what cannot be read."""
    envelopes = source.value == "debezium"
    if source.is_json and not envelopes:
        return texts(values) if source.registry is None else _each(values, _unframed)
    if source.is_json:
        return _each(values, lambda value: flattened(value.decode()))
    if source.value in ("avro", "protobuf", "debezium"):
        reads = _protobuf(source) if source.value == "protobuf" else _avro(source)
        blobs = {name: kind for name, kind in spelled(source.fields).items() if "BLOB" in kind}

        def read(value: bytes) -> str:
            record = _with_blobs(reads(value), blobs)
            if envelopes and isinstance(record, dict):
                rows = {
                    name: _with_blobs(record[name], blobs) for name in ("before", "after") if name in record
                }
                record = record | rows
            return flattened(in_json(record)) if envelopes else in_json(record)

        return _each(values, read)
    return texts(values)


def _each(values: pa.ChunkedArray, reads: Callable[[bytes], str]) -> tuple[pa.Array, Faults]:
    out, faults = list[str | None](), Faults()
    for number, value in enumerate(values.to_pylist()):
        out.append(None)
        try:
            out[-1] = None if value is None else reads(value)
        except BrokerError:
            raise
        except UnicodeDecodeError as wrong:
            faults[number] = f"byte 0x{value[wrong.start]:02x} is no UTF-8"
        except Exception as wrong:  # noqa: BLE001 - whatever a library says of bytes that it cannot read
            faults[number] = " ".join(f"{type(wrong).__name__}: {wrong}".split())[:300]
    return pa.array(out, pa.string()), faults


def _unframed(value: bytes) -> str:
    return (value[_HEADER:] if value[:1] == b"\0" else value).decode()


def _avro(source: KafkaSource) -> Callable[[bytes], Any]:
    if source.registry is None:
        from fastavro import parse_schema, schemaless_reader

        schema = parse_schema(json.loads(str(source.schema)))
        return lambda value: _whole(schemaless_reader(content := io.BytesIO(value), schema, None), content)
    from confluent_kafka.schema_registry import dual_schema_id_deserializer
    from confluent_kafka.schema_registry.avro import AvroDeserializer

    behind_header = io.BytesIO()

    def content_of(*message: Any) -> io.BytesIO:  # noqa: ANN401 - of a package that is not always installed
        nonlocal behind_header
        behind_header = dual_schema_id_deserializer(*message)
        return behind_header

    from confluent_kafka.schema_registry import SchemaRegistryClient

    theirs = {
        name.removeprefix(REGISTRY): value
        for name, value in settings(source.connection).items()
        if name.startswith(REGISTRY)
    }
    framed = _asking(
        source,
        AvroDeserializer(
            SchemaRegistryClient(
                {"url": source.registry, "timeout": _REGISTRY_S, "max.retries": 0, **theirs}
            ),
            source.schema,
            conf={"schema.id.deserializer": content_of},
        ),
    )
    return lambda value: _whole(framed(value), behind_header)


def _protobuf(source: KafkaSource) -> Callable[[bytes], Any]:
    from muntin.extensions.kafka.protobuf_fields import fields_of

    if source.registry is None:
        return lambda value: fields_of(source.schema.FromString(value))  # type: ignore[attr-defined]
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer

    # the class says all
    framed = _asking(source, ProtobufDeserializer(source.schema, {"use.deprecated.format": False}))
    return lambda value: fields_of(framed(value))


def _asking(source: KafkaSource, deserializer: Any) -> Callable[[bytes], Any]:  # noqa: ANN401 - of a package that is not always installed
    """Reads a message that names its schema. What the registry does not answer is no fault of the message."""
    from confluent_kafka.schema_registry.error import SchemaRegistryError
    from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

    context, absent = SerializationContext(source.topic, MessageField.VALUE), 404

    def reads(value: bytes) -> Any:  # noqa: ANN401 - a dict or a message
        try:
            return deserializer(value, context)
        except SchemaRegistryError as wrong:
            if wrong.http_status_code == absent:
                raise ValueError(f"the registry has no schema {int.from_bytes(value[1:_HEADER])}") from None
            raise _unreached(source, f"it answers {wrong.http_status_code}") from None
        except (SerializationError, ValueError, TypeError, EOFError, LookupError):
            raise
        except OSError as wrong:
            raise _unreached(source, type(wrong).__name__) from None
        except Exception as wrong:
            if type(wrong).__module__.startswith(("httpx", "httpcore", "requests")):
                raise _unreached(source, type(wrong).__name__) from None
            raise

    return reads


def _unreached(source: KafkaSource, said: str) -> BrokerError:
    return BrokerError(
        f"the schema registry {source.registry} does not answer ({said}); see to its address and the network,"
        f" and to the credentials in the connection {source.connection!r} ({REGISTRY}basic.auth.user.info)."
        " Nothing was read"
    )


def _whole(message_value: Any, content: io.BytesIO) -> Any:  # noqa: ANN401 - what the bytes say
    """Give back the value that was read of a message, unless bytes are left of its content."""
    if left := len(content.getbuffer()) - content.tell():
        raise ValueError(f"{left} bytes too many for the schema")
    return message_value


def _with_blobs(record: Any, blobs: Mapping[str, str]) -> Any:  # noqa: ANN401 - a record, or what else the bytes say
    """A record whose bytes and texts are spelled as SQL reads bytes, where a type has a BLOB.

    `blobs`: field -> such a type.
    """
    if not blobs or not isinstance(record, dict):
        return record
    return record | {name: _with_blob(record[name], kind) for name, kind in blobs.items() if name in record}


def _with_blob(value: Any, kind: str) -> Any:  # noqa: ANN401 - as above
    if kind == "BLOB" and isinstance(value, bytes | str):
        return "".join(f"\\x{byte:02x}" for byte in (value.encode() if isinstance(value, str) else value))
    if (inner := element(kind)) and isinstance(value, list):
        return [_with_blob(each, inner) for each in value]
    if kind.startswith("STRUCT("):
        return _with_blobs(value, {plain_name(name): of for name, of in members(kind)})
    if kind.startswith("MAP(") and isinstance(value, dict):
        return {name: _with_blob(each, map_types(kind)[1]) for name, each in value.items()}
    return value
