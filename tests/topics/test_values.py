"""What values of messages become: rows of the types that the definition says, or what is wrong with them."""

import io
import json
import random
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
from muntin.extensions.kafka import json_fields
from muntin.extensions.kafka.content import MESSAGES, Decoded, decoded
from muntin.sources import exact_json
from tests.case_counts import some
from tests.source_options import grouped

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
    source = sources.kafka("broker:9092", "orders", **grouped(**{"value": value, "event_time": "kafka_timestamp", **settings}))
    return decoded(source, messages(*values, key=key))


def in_avro(order: dict[str, Any], schema: object = SCHEMA) -> bytes:
    """An order without a header."""
    content = io.BytesIO()
    fastavro.schemaless_writer(content, schema, order)
    return content.getvalue()


class Why(str):
    """A part of the reason for which there is no value."""

    __slots__ = ()


EXACT: list[tuple[str, str, Any]] = [
    ("DOUBLE", "12.5", 12.5),
    ("DOUBLE", "-7", -7.0),
    ("DOUBLE", "1e2", 100.0),
    ("DOUBLE", "1e-7", 1e-7),
    ("DOUBLE", "0.1000000000000000055511151231257827", 0.1),
    ("DOUBLE", "12345678901234567890123", 12345678901234567890123.0),
    ("DOUBLE", "0e-999", 0.0),
    ("DOUBLE", "null", None),
    ("DOUBLE", '"12.5"', Why("a text")),
    ("DOUBLE", '"much"', Why("a text")),
    ("DOUBLE", "true", Why("true or false")),
    ("DOUBLE", "1e400", Why("out of range")),
    ("DOUBLE", "-1e400", Why("out of range")),
    ("DOUBLE", "1e-400", Why("out of range")),
    ("DOUBLE", "NaN", Why("NaN")),
    ("DOUBLE", "{}", Why("an object")),
    ("DOUBLE", "[1]", Why("a list")),
    ("FLOAT", "0.1", 0.10000000149011612),
    ("FLOAT", "1e39", Why("out of range")),
    ("FLOAT", "1" + "0" * 39, Why("out of range")),
    ("BIGINT", "9007199254740993", 9007199254740993),
    ("BIGINT", "7.0", 7),
    ("BIGINT", "1e2", 100),
    ("BIGINT", "9.007199254740993e15", 9007199254740993),
    ("BIGINT", "9007199254740993.0", 9007199254740993),
    ("BIGINT", "-9223372036854775808", -9223372036854775808),
    ("BIGINT", "9223372036854775808", Why("")),
    ("BIGINT", "1e999999999", Why("out of range")),
    ("BIGINT", "9007199254740993.5", Why("a fraction")),
    ("BIGINT", "1.7", Why("a fraction")),
    ("BIGINT", "1e-2", Why("a fraction")),
    ("BIGINT", '"7"', Why("a text")),
    ("BIGINT", "true", Why("true or false")),
    ("UTINYINT", "255", 255),
    ("UTINYINT", "256", Why("")),
    ("UTINYINT", "-1", Why("")),
    ("HUGEINT", "170141183460469231731687303715884105727", 170141183460469231731687303715884105727),
    ("HUGEINT", "1.5", Why("a fraction")),
    ("DECIMAL(12,2)", "12.10", Decimal("12.10")),
    ("DECIMAL(12,2)", "12", Decimal("12.00")),
    ("DECIMAL(12,2)", "1.21e1", Decimal("12.10")),
    ("DECIMAL(12,2)", "-0.100", Decimal("-0.10")),
    ("DECIMAL(12,2)", "12.105", Why("")),
    ("DECIMAL(12,2)", "12345678901.00", Why("")),
    ("DECIMAL(12,2)", '"12.10"', Why("a text")),
    ("DECIMAL(38,18)", "12345678901234567890.123456789012345678", Decimal("12345678901234567890.123456789012345678")),
    ("DECIMAL(38,0)", "12345678901234567890123", Decimal(12345678901234567890123)),
    ("DECIMAL(9,7)", "0.0000001", Decimal("0.0000001")),
    ("BOOLEAN", "true", True),
    ("BOOLEAN", "false", False),
    ("BOOLEAN", "1", Why("a number")),
    ("BOOLEAN", '"yes"', Why("a text")),
    ("BOOLEAN", '"true"', Why("a text")),
    ("VARCHAR", '"01/02/2024"', "01/02/2024"),
    ("VARCHAR", '"\\u00e4\\n"', "ä\n"),
    ("VARCHAR", '"\\ud83d\\ude00"', "😀"),
    ("VARCHAR", '"\\ud83d"', Why("half of a surrogate")),
    ("VARCHAR", "5", "5"),
    ("VARCHAR", "-0", "-0"),
    ("VARCHAR", "1e2", "1e2"),
    ("VARCHAR", "12.10", "12.10"),
    ("VARCHAR", "12345678901234567890123", "12345678901234567890123"),
    ("VARCHAR", "true", "true"),
    ("VARCHAR", '{"a": [1e2, "x", null]}', '{"a":[1e2,"x",null]}'),
    ("VARCHAR", '{"a": {"b": 1, "b": 2}}', Why("b comes twice in it")),
    ("JSON", "[0.10, 1]", "[0.10,1]"),
    ("JSON", "null", None),
    ("DATE", '"2024-01-02"', date(2024, 1, 2)),
    ("DATE", '"2024-01-02T00:00:00"', date(2024, 1, 2)),
    ("DATE", '"2024-01-02T10:00:00"', Why("")),
    ("DATE", '"02.01.2024"', Why("")),
    ("DATE", "20240102", Why("a number")),
    ("TIMESTAMPTZ", '"2024-01-01T02:00:00+02:00"', datetime(2024, 1, 1, tzinfo=UTC)),
    ("TIMESTAMP", '"2024-01-01T02:00:00"', datetime.fromisoformat("2024-01-01T02:00")),
    ("TIMESTAMP", '"2024-01-01T02:00:00+02:00"', Why("")),
    ("TIMESTAMP", '"2024-01-01T02:00:00Z"', Why("")),
    ("TIMESTAMP", "1704067200", Why("a number")),
    ("UUID", '"no"', Why("")),
    ("INTEGER[]", "[1, null, 3.0]", [1, None, 3]),
    ("INTEGER[]", "[1, {}]", Why("an object")),
    ("INTEGER[]", '[1, "2"]', Why("a text")),
    ("INTEGER[]", "5", Why("a number")),
    ("STRUCT(a INTEGER, b VARCHAR)", '{"a": 1, "c": 2}', {"a": 1, "b": None}),
    ("STRUCT(a INTEGER, b VARCHAR)", '{"a": 1, "c": 2, "c": 3}', {"a": 1, "b": None}),
    ("STRUCT(a INTEGER, b VARCHAR)", '{"a": 1, "b": "x", "a": 2}', Why("a: it comes twice")),
    ("STRUCT(a INTEGER, b VARCHAR)", '{"a": "1"}', Why("a: it is a text")),
    ("STRUCT(a INTEGER, b VARCHAR)", '{"a": 3000000000}', Why("")),
    ("STRUCT(a INTEGER, b VARCHAR)", "[]", Why("a list")),
    ('STRUCT("the ""a""" INTEGER)', '{"the \\"a\\"": 1}', {'the "a"': 1}),
    ("STRUCT(a STRUCT(b DATE)[])", '{"a": [{"b": "2024-01-02"}, null]}', {"a": [{"b": date(2024, 1, 2)}, None]}),
    ("STRUCT(a STRUCT(b DATE)[])", '{"a": [{"b": "x"}]}', Why("")),
    ("MAP(VARCHAR, DECIMAL(4,1))", '{"a": 1.0, "b": 2e1}', [("a", Decimal("1.0")), ("b", Decimal("20.0"))]),
    ("MAP(VARCHAR, DECIMAL(4,1))", '{"a": 1.0, "a": 2}', Why("a: it comes twice")),
]


@pytest.mark.parametrize("plain", [True, False], ids=["by DuckDB", "all exactly"])
@pytest.mark.parametrize(("kind", "text", "found"), EXACT)
def test_a_field_of_json_has_the_type_of_the_definition(
    kind: str, text: str, found: Any, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not plain:
        monkeypatch.setattr(json_fields, "_plain_kinds", lambda _: ())
    done = of("json", f'{{"x": {text}}}'.encode(), b'{"y": 1}', columns={"x": kind})
    if isinstance(found, Why):
        assert [(each.offset, each.column) for each in done.odd] == [(100, "x")]
        assert done.odd[0].reason.startswith(f"x cannot be read as {kind}")
        assert found in done.odd[0].reason
        assert done.rows["x"].to_pylist() == [None]
    else:
        assert done.odd == ()
        assert done.rows["x"].to_pylist() == [found, None]


def test_of_a_name_that_comes_twice_nothing_counts() -> None:
    values = [b'{"x": 1, "x": 1}', b'{"x": 1, "y": 2, "y": 3}', b'{"x": 1, "\\u0078": 2}', b'{"x": 4}']
    done = of("json", *values, columns={"x": "INTEGER"})
    assert [(each.offset, each.reason) for each in done.odd] == [(at, "x cannot be read as INTEGER: it comes twice") for at in (100, 102)]
    assert done.rows["x"].to_pylist() == [1, 4]


@pytest.mark.parametrize(("around", "deep"), [("[", False), ('{"a":', False), ("[", True), ('{"a":', True)])
def test_messages_are_read_as_deep_as_lines_of_files_are(around: str, deep: bool) -> None:
    levels = exact_json.DEEPEST + deep - 2  # the object around, and what is inside
    inner = around * levels + "1" + ("]" if around == "[" else "}") * levels
    done = of("json", f'{{"x": 1, "y": {inner}, "z": "{"[" * 200}"}}'.encode(), b'{"x": 2}', columns={"x": "INTEGER"})
    assert [each.reason for each in done.odd] == ["no JSON: it is nested more than 128 deep"] * deep
    assert done.rows["x"].to_pylist() == [2] if deep else [1, 2]


@pytest.mark.parametrize("seed", some(range(20), one_in=3))
def test_what_duckdb_reads_is_what_is_read_exactly(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(seed)
    kinds = {"a": "BIGINT", "b": "DECIMAL(18,3)", "c": "DOUBLE", "d": "VARCHAR", "e": "BOOLEAN", "f": "DATE", "g": "FLOAT", "h": "UBIGINT"}
    values = [any_object(drawn, [*kinds, "i"]).encode() for _ in range(300)]
    mixed = of("json", *values, columns=kinds)
    monkeypatch.setattr(json_fields, "_plain_kinds", lambda _: ())
    exact = of("json", *values, columns=kinds)
    assert mixed.rows.to_pylist() == exact.rows.to_pylist()
    assert [(each.offset, each.reason) for each in mixed.odd] == [(each.offset, each.reason) for each in exact.odd]
    assert 0 < len(mixed.odd) < len(values)


def any_object(drawn: random.Random, names: list[str]) -> str:
    """An object with some of these members."""
    return "{" + ", ".join(f'"{name}": {any_json(drawn)}' for name in drawn.sample(names, 2)) + "}"


def any_json(drawn: random.Random) -> str:
    """A value of JSON, mostly of few digits, and now and then of many."""
    digits = drawn.choice([1, 2, 2, 3, 3, 8, 16, 17, 18, 20, 40])
    number = f"{drawn.choice(['', '-'])}{drawn.randrange(1, 10**digits)}"
    fraction = f".{drawn.randrange(10 ** drawn.choice([1, 2, 3, 3, 9, 17])):03}"
    power = f"e{drawn.choice(['', '+', '-'])}{drawn.choice([0, 1, 3, 30, 310])}"
    texts = ['"2024-01-02"', '"7"', '"x"', '"e\\u00e4"', "true", "false", "null", "[1]", "{}", "-0", "0.0"]
    return drawn.choice([number, number + fraction, number + fraction, number + power, drawn.choice(texts)])


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
    values = [b'{"x": 1}', b'{"x": 2e0}', b'{"x": 3.0}', b'{"x": "odd"}', b'{"x": 1e400}', None, b'{"y": 1}']
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


@pytest.mark.parametrize("by", [{}, {"schema": json.dumps(SCHEMA)}], ids=["as written", "as read"])
def test_bytes_behind_a_record_fit_no_schema_of_a_registry(by: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """So of a message that names an older, shorter schema than its own; messages around it count."""
    older = {"type": "record", "name": "Order", "fields": SCHEMA["fields"][:3]}
    monkeypatch.setattr(Registry, "found", {"6": older, "7": SCHEMA, "5": {"type": "record", "name": "Order", "fields": []}})
    values = [
        framed(7, in_avro(ORDER)),
        framed(6, in_avro(ORDER)),
        framed(7, in_avro(ORDER) + b"xy"),
        framed(5, b"\x02"),
        framed(7, in_avro(ORDER)),
    ]
    with registry() as address:
        done = of("avro", *values, registry=address, columns=FIELDS, **by)
    assert [{name: row[name] for name in FIELDS} for row in done.rows.to_pylist()] == [ORDER, ORDER]
    kind = "no avro: ValueError: {} bytes too many for the schema"
    assert [(each.offset, each.reason) for each in done.odd][:2] == [(101, kind.format(1)), (102, kind.format(2))]
    assert done.odd[2].offset == 103


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


# Messages of Debezium

ENVELOPES: list[dict[str, Any] | None] = [
    {"before": None, "after": {"id": 7, "x": 1.5}, "op": "c", "ts_ms": 17},
    {"before": {"id": 7, "x": None}, "after": None, "op": "d", "ts_ms": 18},
    None,
    {"before": None, "after": None, "op": "t", "ts_ms": 19},
]
ROW = {"type": "record", "name": "Row", "fields": [{"name": "id", "type": "long"}, {"name": "x", "type": ["null", "double"]}]}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", ROW]},
        {"name": "after", "type": ["null", "Row"]},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"]},
    ],
}


@pytest.mark.parametrize("written", ["plain", "with its schema", "avro"])
def test_messages_of_debezium_are_rows_with_an_operation(written: str) -> None:
    values = [None if each is None else json.dumps(each).encode() for each in ENVELOPES]
    if written == "with its schema":
        values = [None if each is None else json.dumps({"schema": {}, "payload": each}).encode() for each in ENVELOPES]
    elif written == "avro":
        values = [None if each is None else in_avro(each, ENVELOPE) for each in ENVELOPES]
    schema = {"schema": json.dumps(ENVELOPE)} if written == "avro" else {}
    done = of("debezium", *values, columns={"after.id": "BIGINT", "x": "DOUBLE"}, id="after.id", changes_within="1d", **schema)
    assert not done.odd
    rows = [(row["id"], row["x"], row["__op"]) for row in done.rows.to_pylist()]
    assert rows == [(7, 1.5, "c"), (7, None, "d"), (None, None, "tombstone"), (None, None, "t")]
