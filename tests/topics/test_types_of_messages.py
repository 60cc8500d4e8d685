"""Fields of Avro and Protobuf of every type: what Python's own readers give, exactly, or a message in the quarantine."""

import io
import json
import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.topics.test_values import of

fastavro = pytest.importorskip("fastavro")
protobuf = pytest.importorskip("google.protobuf")
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2  # noqa: E402 - as said

FLOATS = [0.10000000149011612, -0.0, math.nan, math.inf, -math.inf, 1.401298464324817e-45, 3.4028234663852886e38]
DOUBLES = [0.1, -0.0, math.nan, math.inf, 5e-324, 1.7976931348623157e308, 2.0**53, 1e22, 1e-7]
BYTES = [b"", b"\0", b"\xff\xfe", b"abcd", b"\\x41"]
_FIXED = {"type": "fixed", "name": "f", "size": 2}
_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}
AVRO: list[tuple[Any, str, list[Any]]] = [
    ("boolean", "BOOLEAN", [True, False]),
    ("int", "INTEGER", [-(2**31), 2**31 - 1]),
    ("long", "BIGINT", [-(2**63), 2**63 - 1, 2**53 + 1]),
    ("float", "FLOAT", FLOATS),
    ("float", "DOUBLE", FLOATS),
    ("double", "DOUBLE", DOUBLES),
    ("bytes", "BLOB", BYTES),
    (_FIXED, "BYTEA", [b"\xff\0"]),
    ("string", "VARCHAR", ["", "\0", "\u00e4", "\U0001f600", "7", " 7", "null", "2024-01-01"]),
    ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "VARCHAR", ["A", "B"]),
    ({"type": "array", "items": "double"}, "DOUBLE[]", [[0.1, math.nan, math.inf], []]),
    ({"type": "array", "items": "bytes"}, "BLOB[]", [BYTES, []]),
    ({"type": "map", "values": "bytes"}, "MAP(VARCHAR, BLOB)", [[("a", b"\xff"), ("", b"")]]),
    (["null", "long"], "BIGINT", [None, 2**53 + 1]),
    (_MONEY, "DECIMAL(38,2)", [Decimal("0.01"), Decimal("9" * 36 + ".99")]),
    ({"type": "string", "logicalType": "uuid"}, "VARCHAR", [str(UUID(int=5))]),
    ({"type": "int", "logicalType": "date"}, "DATE", [date(1, 1, 1), date(9999, 12, 31)]),
    ({"type": "long", "logicalType": "time-micros"}, "TIME", [time(0), time(23, 59, 59, 999_999)]),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        "TIMESTAMPTZ",
        [datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)],
    ),
    ({"type": "long", "logicalType": "timestamp-nanos"}, "BIGINT", [1, -1]),
]


@pytest.mark.parametrize(("schema", "kind", "values"), AVRO)
def test_avro(schema: Any, kind: str, values: list[Any]) -> None:
    whole = {"type": "record", "name": "M", "fields": [{"name": "x", "type": schema}]}
    written = [in_avro(whole, {"x": dict(each) if "MAP(" in kind else each}) for each in values]
    done = of("avro", *written, schema=json.dumps(whole), columns={"x": kind})
    assert done.odd == ()
    assert repr(done.rows["x"].to_pylist()).replace("zoneinfo.ZoneInfo(key='UTC')", "datetime.timezone.utc") == repr(values)


def in_avro(schema: dict[str, Any], record: dict[str, Any]) -> bytes:
    content = io.BytesIO()
    fastavro.schemaless_writer(content, schema, record)
    return content.getvalue()


def test_bytes_in_a_struct_are_what_each_member_says() -> None:
    inner = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "bytes"}, {"name": "b b", "type": "bytes"}]}
    whole = {"type": "record", "name": "M", "fields": [{"name": "x", "type": inner | {"fields": [inner["fields"][0]]}}]}  # type: ignore[index]
    for kind, found in (("STRUCT(a BLOB)", b"\xff"), ("STRUCT(a VARCHAR)", "/w==")):
        done = of("avro", in_avro(whole, {"x": {"a": b"\xff"}}), schema=json.dumps(whole), columns={"x": kind})
        assert done.rows["x"].to_pylist() == [{"a": found}]


def _message() -> Any:
    """The class of a message with a field of each kind."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="muntin_types.proto", package="muntin_types", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    colour = file.enum_type.add(name="Colour")
    for number, name in enumerate(("RED", "BLUE")):
        colour.value.add(name=name, number=number)
    message = file.message_type.add(name="M")
    pair = message.nested_type.add(name="NamedEntry", options=descriptor_pb2.MessageOptions(map_entry=True))
    pair.field.add(name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    pair.field.add(name="value", number=2, type=field.TYPE_FLOAT, label=field.LABEL_OPTIONAL)
    of_kind = {"f": "FLOAT", "d": "DOUBLE", "i": "INT64", "u": "UINT64", "b": "BOOL", "s": "STRING", "raw": "BYTES", "many": "FLOAT"}
    of_type = {"e": "Colour", "t": "Timestamp", "w": "FloatValue", "o": "BytesValue", "named": "M.NamedEntry"}
    for number, name in enumerate([*of_kind, *of_type], 1):
        label = field.LABEL_REPEATED if name in ("many", "named") else field.LABEL_OPTIONAL
        kind = getattr(field, f"TYPE_{of_kind[name]}") if name in of_kind else field.TYPE_ENUM if name == "e" else field.TYPE_MESSAGE
        place = "muntin_types" if name in ("e", "named") else "google.protobuf"
        message.field.add(
            name=name, number=number, type=kind, label=label, type_name=f".{place}.{of_type[name]}" if name in of_type else None
        )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("muntin_types.M"))


M = _message()
PROTOBUF: list[tuple[str, str, list[Any]]] = [
    ("f", "FLOAT", FLOATS),
    ("f", "DOUBLE", FLOATS),
    ("d", "DOUBLE", DOUBLES),
    ("i", "BIGINT", [-(2**63), 2**63 - 1, 2**53 + 1, 0]),
    ("u", "DECIMAL(20,0)", [Decimal(2**64 - 1), Decimal(2**53 + 1)]),
    ("b", "BOOLEAN", [True, False]),
    ("s", "VARCHAR", ["", "\0", "\u00e4", "7"]),
    ("raw", "BLOB", BYTES),
    ("many", "DOUBLE[]", [FLOATS, []]),
]


@pytest.mark.parametrize(("name", "kind", "values"), PROTOBUF)
def test_protobuf(name: str, kind: str, values: list[Any]) -> None:
    written = [M(**{name: int(each) if isinstance(each, Decimal) else each}) for each in values]
    done = of("protobuf", *(each.SerializeToString() for each in written), schema=M, columns={name: kind})
    found = [list(each) if name == "many" else each for each in (getattr(each, name) for each in written)]
    assert done.odd == ()
    assert repr([int(each) if name == "u" else each for each in done.rows[name].to_pylist()]) == repr(found)


def test_messages_in_protobuf() -> None:
    written = M(
        t=timestamp_pb2.Timestamp(seconds=-1, nanos=999_999_000),
        w=wrappers_pb2.FloatValue(value=0.1),
        o=wrappers_pb2.BytesValue(value=b"\xff"),
        named={"a": 0.1},
        e=1,
    )
    kinds = {"t": "TIMESTAMPTZ", "w": "DOUBLE", "o": "BLOB", "named": "MAP(VARCHAR, DOUBLE)", "e": "VARCHAR"}
    done = of("protobuf", written.SerializeToString(), M().SerializeToString(), M(e=7).SerializeToString(), schema=M, columns=kinds)
    assert done.rows.select([*kinds]).to_pylist() == [
        {
            "t": datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            "w": 0.10000000149011612,
            "o": b"\xff",
            "named": [("a", 0.10000000149011612)],
            "e": "BLUE",
        },
        {"t": None, "w": None, "o": None, "named": [], "e": "RED"},
        {"t": None, "w": None, "o": None, "named": [], "e": "7"},
    ]


def test_nanoseconds_of_protobuf_wait_unless_they_are_of_event_times() -> None:
    written = M(t=timestamp_pb2.Timestamp(nanos=1001)).SerializeToString()
    done = of("protobuf", written, schema=M, columns={"t": "TIMESTAMPTZ"})
    assert [each.reason for each in done.odd] == ["t cannot be read as TIMESTAMP WITH TIME ZONE"]
    done = of("protobuf", written, schema=M, columns={"t": "TIMESTAMPTZ"}, event_time="t")
    assert done.rows["t"].to_pylist() == [datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]
