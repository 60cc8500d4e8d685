"""What values of messages become: rows of the types that the definition says, or what is wrong with them."""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from muntin import sources
from muntin.errors import BrokerError
from muntin.sources.topics.messages import MESSAGES
from muntin.sources.topics.values import Decoded, decoded

fastavro = pytest.importorskip("fastavro")
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "shop", "type": "string"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
FIELDS = {"shop": "VARCHAR", "amount": "DECIMAL(12,2)", "at": "TIMESTAMPTZ", "note": "VARCHAR"}
ORDER = {"shop": "a", "amount": Decimal("12.10"), "at": datetime(2024, 1, 1, tzinfo=UTC), "note": None}


def messages(*values: bytes | None, key: bytes | None = b"k") -> pa.Table:
    """Messages from offset 100 on."""
    count = len(values)
    columns = [list(values), [key] * count, [3] * count, list(range(100, 100 + count)), [0] * count]
    return pa.Table.from_arrays([pa.array(each, field.type) for each, field in zip(columns, MESSAGES, strict=True)], schema=MESSAGES)


def of(value: str, *values: bytes | None, key: bytes | None = b"k", **settings: Any) -> Decoded:
    """What a source makes of values."""
    source = sources.kafka("broker:9092", "orders", **{"value": value, "event_time": "kafka_timestamp", **settings})
    return decoded(source, messages(*values, key=key))


def in_avro(order: dict[str, Any]) -> bytes:
    """An order without a header."""
    content = io.BytesIO()
    fastavro.schemaless_writer(content, SCHEMA, order)
    return content.getvalue()


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("DOUBLE", "12.5", 12.5),
        ("DOUBLE", '"12.5"', 12.5),
        ("DOUBLE", "null", None),
        ("DOUBLE", '"much"', ValueError),
        ("DOUBLE", "{}", ValueError),
        ("DOUBLE", "[1]", ValueError),
        ("BIGINT", "9007199254740993", 9007199254740993),
        ("DECIMAL(12,2)", "12.10", Decimal("12.10")),
        ("BOOLEAN", "true", True),
        ("VARCHAR", '"01/02/2024"', "01/02/2024"),
        ("VARCHAR", "5", "5"),
        ("VARCHAR", '{"a": 1}', '{"a":1}'),
        ("DATE", '"2024-01-02"', date(2024, 1, 2)),
        ("DATE", '"02.01.2024"', ValueError),
        ("TIMESTAMPTZ", '"2024-01-01T02:00:00+02:00"', datetime(2024, 1, 1, tzinfo=UTC)),
        ("INTEGER[]", "[1, null, 3]", [1, None, 3]),
        ("INTEGER[]", "[1, {}]", ValueError),
        ("INTEGER[]", "5", ValueError),
        ("STRUCT(a INTEGER, b VARCHAR)", '{"a": 1, "c": 2}', {"a": 1, "b": None}),
        ("STRUCT(a INTEGER, b VARCHAR)", "[]", ValueError),
        ("STRUCT(a STRUCT(b DATE)[])", '{"a": [{"b": "2024-01-02"}, null]}', {"a": [{"b": date(2024, 1, 2)}, None]}),
        ("STRUCT(a STRUCT(b DATE)[])", '{"a": [{"b": "x"}]}', ValueError),
    ],
)
def test_a_field_of_json_has_the_type_of_the_definition(kind: str, text: str, found: Any) -> None:
    done = of("json", f'{{"x": {text}}}'.encode(), b'{"y": 1}', columns={"x": kind})
    if found is ValueError:
        assert [(each.offset, each.column) for each in done.odd] == [(100, "x")]
        assert done.rows["x"].to_pylist() == [None]
    else:
        assert done.rows["x"].to_pylist() == [found, None]
        assert done.odd == ()


@pytest.mark.parametrize("name", ["a b", 'a"b', "a'b", "a/b", "a~b", "a.b", "ä", "$"])
def test_a_field_may_have_any_name(name: str) -> None:
    assert of("json", json.dumps({name: 5}).encode(), columns={name: "INTEGER"}).rows[name].to_pylist() == [5]


@pytest.mark.parametrize("value", [b"", b"{", b"5", b"null", b"[1]", b'"x"', b"\xff", b'{"x": 1} {"x": 2}'])
def test_what_is_no_object_is_one_bad_message(value: bytes) -> None:
    done = of("json", b'{"x": 1}', value, None, b'{"x": 3}', columns={"x": "INTEGER"})
    assert [(each.number, each.offset, each.column) for each in done.odd] == [(1, 101, None)]
    assert done.odd[0].text == value.decode(errors="backslashreplace")
    assert done.rows["x"].to_pylist() == [1, None, 3]
    assert done.offset.tolist() == [100, 102, 103]


def test_how_messages_are_cut_changes_nothing() -> None:
    values = [b'{"x": 1}', b'{"x": "2"}', b'{"x": 3.0}', b'{"x": "odd"}', None, b'{"y": 1}']
    whole = of("json", *values, columns={"x": "DOUBLE"})
    each = [of("json", value, columns={"x": "DOUBLE"}) for value in values]
    assert whole.rows["x"].to_pylist() == [x for one in each for x in one.rows["x"].to_pylist()]
    assert len({one.rows.schema for one in [whole, *each]}) == 1


def test_text_and_raw_bytes() -> None:
    text = of("text", "ä".encode(), b"\xff", None)
    assert text.rows["kafka_value"].to_pylist() == ["ä", None]
    assert [each.reason for each in text.odd] == ["no text: byte 0xff is no UTF-8"]
    keys = of("raw", b"\xff", None, key=b"\xfe")
    assert [each.column for each in keys.odd] == ["kafka_key", "kafka_key"]


def test_a_key_may_be_bytes() -> None:
    source = sources.kafka("broker:9092", "orders", value="raw", key="raw", event_time="kafka_timestamp")
    done = decoded(source, messages(b"\xff", None, key=b"\xfe"))
    assert done.rows.to_pylist()[0]["kafka_key"] == b"\xfe"
    assert done.rows["kafka_value"].to_pylist() == [b"\xff", None]
    assert done.odd == ()


def test_avro_with_one_schema() -> None:
    done = of("avro", in_avro(ORDER), b"\x02", in_avro(ORDER) + b"x", None, schema=json.dumps(SCHEMA), columns=FIELDS)
    assert [{name: row[name] for name in FIELDS} for row in done.rows.to_pylist()] == [ORDER, dict.fromkeys(FIELDS)]
    assert [each.offset for each in done.odd] == [101, 102]
    assert done.odd[1].reason == "no avro: ValueError: 1 bytes too many for the schema"


class Registry(BaseHTTPRequestHandler):
    """As much of a schema registry as a reader asks for: GET /schemas/ids/7."""

    found: ClassVar = {"7": SCHEMA}
    status = 200

    def do_GET(self) -> None:
        """The schema of a number."""
        number = self.path.partition("?")[0].rpartition("/")[2]
        known = number in self.found
        self.send_response(self.status if known or self.status != 200 else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        says = {"schema": json.dumps(self.found[number])} if known else {"error_code": 40403, "message": "Schema not found"}
        self.wfile.write(json.dumps(says).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def registry(status: int = 200) -> Iterator[str]:
    """The address of a schema registry."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answering", (Registry,), {"status": status}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def framed(number: int, value: bytes) -> bytes:
    """A message that names its schema: https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop."""
    return b"\0" + number.to_bytes(4) + value


def test_avro_with_a_registry() -> None:
    with registry() as address:
        done = of("avro", framed(7, in_avro(ORDER)), framed(8, in_avro(ORDER)), b"odd", None, registry=address, columns=FIELDS)
    assert [{name: row[name] for name in FIELDS} for row in done.rows.to_pylist()] == [ORDER, dict.fromkeys(FIELDS)]
    assert [each.offset for each in done.odd] == [101, 102]
    assert "the registry has no schema 8" in done.odd[0].reason


def test_a_registry_that_refuses_or_is_not_there_is_no_fault_of_the_messages() -> None:
    with registry(401) as address, pytest.raises(BrokerError, match=r"does not answer \(it answers 401\); see to its address"):
        of("avro", framed(7, in_avro(ORDER)), registry=address, columns=FIELDS)
    with pytest.raises(BrokerError, match=r"the schema registry http://127\.0\.0\.1:1 does not answer"):
        of("avro", framed(7, in_avro(ORDER)), registry="http://127.0.0.1:1", columns=FIELDS)


def test_protobuf() -> None:
    from google.protobuf.descriptor_pb2 import UninterpretedOption

    columns = {"identifier_value": "VARCHAR", "positive_int_value": "UBIGINT", "string_value": "VARCHAR"}
    one = UninterpretedOption(identifier_value="a", positive_int_value=2**63 + 1, string_value=b"\x01").SerializeToString()
    found = {"identifier_value": "a", "positive_int_value": 2**63 + 1, "string_value": "AQ=="}
    done = of("protobuf", one, b"\xff\xff", None, schema=UninterpretedOption, columns=columns)
    assert [{name: row[name] for name in columns} for row in done.rows.to_pylist()] == [found, dict.fromkeys(columns)]
    assert [each.offset for each in done.odd] == [101]
    with registry() as address:
        done = of("protobuf", framed(7, b"\0" + one), b"odd", schema=UninterpretedOption, columns=columns, registry=address)
    assert [{name: row[name] for name in columns} for row in done.rows.to_pylist()] == [found]
    assert [each.offset for each in done.odd] == [101]
