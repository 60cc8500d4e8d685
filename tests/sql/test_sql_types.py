"""Types of a database's columns: each arrives exactly, or is refused with what to do."""

import re
import sqlite3
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import sources
from muntin.errors import SourceError
from tests.case_counts import at_length
from tests.maria_server import connected, maria, shop_database
from tests.postgres_server import database, postgres

__all__ = ["database", "maria", "postgres", "shop_database"]  # pytest looks for them here
START, END = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
AT = "'2024-01-01 00:00:00.123456+02'::timestamptz + interval '3 h' AS at"
EXACT: dict[str, tuple[Any, pa.DataType | None]] = {
    "true": (True, pa.bool_()),
    "'-32768'::int2": (-32768, pa.int16()),
    "7::int4": (7, pa.int32()),
    "9223372036854775807::int8": (2**63 - 1, pa.int64()),
    "0.1::float4": (0.10000000149011612, pa.float32()),
    "0.1::float8": (0.1, pa.float64()),
    "'-0'::float8": (-0.0, pa.float64()),
    "'-12.30'::numeric(12, 2)": (Decimal("-12.30"), pa.decimal128(12, 2)),
    "0.00000000000000001::numeric(18, 17)": (Decimal("1e-17"), pa.decimal128(18, 17)),
    "12345678901234567890.1234567890::numeric(30, 10)": (Decimal("12345678901234567890.1234567890"), pa.decimal128(30, 10)),
    "99999999999999999999999999999999999999::numeric(38)": (Decimal(10**38 - 1), pa.decimal128(38, 0)),
    "'Ä'::text": ("Ä", pa.string()),
    "'ab'::char(3)": ("ab ", pa.string()),
    "'\\x00ff'::bytea": (b"\x00\xff", pa.binary()),
    "'2024-02-29'::date": (date(2024, 2, 29), pa.date32()),
    "'10:00:00.5'::time": (time(10, 0, 0, 500_000), pa.time64("us")),
    "'2024-01-01 00:00:00.123456'::timestamp": (datetime(2024, 1, 1, 0, 0, 0, 123456), pa.timestamp("us")),  # noqa: DTZ001 - it has no zone
    "'2024-01-01 00:00:00.123456+02'::timestamptz": (datetime(2023, 12, 31, 22, 0, 0, 123456, tzinfo=UTC), pa.timestamp("us", "UTC")),
    "'00000000-0000-0000-0000-000000000005'::uuid": ("00000000-0000-0000-0000-000000000005", pa.string()),
    "'{\"a\":1.10}'::json": ('{"a":1.10}', pa.string()),
    "'{\"a\":1.10}'::jsonb": ('{"a": 1.10}', pa.string()),
    "'{1,2,null}'::int[]": ([1, 2, None], None),
    "'{a,b}'::text[]": (["a", "b"], None),
    "'{00000000-0000-0000-0000-000000000005}'::uuid[]": (["00000000-0000-0000-0000-000000000005"], None),
}
REFUSED = {
    "1.10::numeric": "types={'x': 'DECIMAL(18, 2)'}",
    "1::numeric(50, 2)": "types={'x': 'DECIMAL(18, 2)'}",
    "'NaN'::numeric(5, 2)": "cannot convert NaN",
    "'NaN'::numeric(30, 2)": "The string 'NaN' is not a valid decimal128 number; let the query say what it means",
    "12.34::numeric::money": 'type money, which has no exact counterpart here; let the query cast it, as "x"::text',
    "'1 day'::interval": "type interval",
    "4294967295::oid": "type oid",
    "'10.0.0.1'::inet": "type inet",
    "'{1.5}'::numeric(3, 1)[]": "type numeric[]",
    "'10:00+02'::timetz": "type timetz",
    "B'101'": "type bit",
    "'infinity'::timestamptz": "'x' holds infinity",
    "'-infinity'::timestamp": "'x' holds infinity",
    "'infinity'::date": "'x' holds infinity",
    "'-infinity'::date": "'x' holds infinity",
    "'24:00'::time": "a time that is none of a day",
    "'{{1,2},{3,4}}'::int[]": "several dimensions",
}


def rows_of(address: str, query: str, **more: Any) -> pa.Table:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUNTIN_TEST_SQL", address)
        source = sources.sql("env:MUNTIN_TEST_SQL", query, event_time="at", **more)
        return source.fetch(START, END).read_all()


def value_of(address: str, expression: str, **more: Any) -> tuple[Any, pa.DataType]:
    """A value and its type, of a column that has a null, too."""
    column = rows_of(
        address,
        f"SELECT * FROM (SELECT {AT}, {expression} AS x UNION ALL SELECT {AT}, NULL) AS o WHERE at >= {{start}} AND at < {{end}}",
        **more,
    )["x"]
    assert column.to_pylist()[1] is None
    return column.to_pylist()[0], column.type


def test_types_of_postgresql_arrive_exactly(database: str) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    for expression, (value, kind) in EXACT.items():
        given, stored = declared(database, expression) if "numeric" in expression else value_of(database, expression)
        assert (given, str(given)) == (value, str(value)) or given == value != 0, expression
        assert kind in (None, stored), expression
    assert value_of(database, "1.10::numeric", types={"x": "DECIMAL(10, 4)"}) == ("1.10", pa.string())


def declared(address: str, expression: str) -> tuple[Any, pa.DataType]:
    """As `value_of`: a union would lose the digits of a numeric."""
    column = rows_of(address, f"SELECT {AT}, {expression} AS x WHERE now() >= {{start}} AND {{end}} < now()")["x"]
    return column.to_pylist()[0], column.type


@at_length
@pytest.mark.parametrize("expression", REFUSED)
def test_types_of_postgresql_without_an_exact_counterpart_are_refused(database: str, expression: str) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises((SourceError, OSError), match=re.escape(REFUSED[expression])):
        declared(database, expression)


NO_ZONE = datetime(2024, 1, 1, 0, 0, 0, 123456)  # noqa: DTZ001 - a datetime of MySQL has none
IN_MARIA: dict[str, list[tuple[str, Any, pa.DataType]]] = {
    "tinyint": [("-128", -128, pa.int8())],
    "tinyint unsigned": [("255", 255, pa.uint8())],
    "boolean": [("true", 1, pa.int8())],
    "smallint": [("-32768", -32768, pa.int16())],
    "mediumint unsigned": [("16777215", 2**24 - 1, pa.uint32())],
    "int": [("-7", -7, pa.int32())],
    "int(5) zerofill": [("7", 7, pa.uint32())],
    "bigint": [("-9223372036854775808", -(2**63), pa.int64())],
    "bigint unsigned": [("18446744073709551615", 2**64 - 1, pa.uint64())],
    "year": [("2024", 2024, pa.uint16()), ("0", 0, pa.uint16())],
    "double": [("0.1", 0.1, pa.float64()), ("1.7976931348623157e308", 1.7976931348623157e308, pa.float64())],
    "decimal(12, 2)": [("-12.3", Decimal("-12.30"), pa.decimal128(12, 2))],
    "decimal(4, 4) unsigned": [("0.1234", Decimal("0.1234"), pa.decimal128(4, 4))],
    "decimal(9)": [("123456789", Decimal(123456789), pa.decimal128(9, 0))],
    "decimal(38, 10)": [("12345678901234567890.123456789", Decimal("12345678901234567890.1234567890"), pa.decimal128(38, 10))],
    "bit": [("1", True, pa.bool_()), ("0", False, pa.bool_())],
    "bit(64)": [("18446744073709551615", 2**64 - 1, pa.uint64())],
    "varchar(9) CHARACTER SET latin1": [("'Ä'", "Ä", pa.string())],
    "char(3)": [("'ab'", "ab", pa.string())],
    "longtext CHARACTER SET utf8mb4": [("'x\U0001f600'", "x\U0001f600", pa.string())],
    "json": [("'{\"a\": 1.10}'", '{"a": 1.10}', pa.string())],
    "enum('a', 'b')": [("'b'", "b", pa.string())],
    "set('a', 'b')": [("'a,b'", "a,b", pa.string())],
    "uuid": [("'00000000-0000-0000-0000-000000000005'", "00000000-0000-0000-0000-000000000005", pa.string())],
    "binary(3)": [("x'00ff'", b"\x00\xff\x00", pa.binary())],
    "longblob": [("x'00ff'", b"\x00\xff", pa.binary())],
    "date": [("'2024-02-29'", date(2024, 2, 29), pa.date32())],
    "time(6)": [("'10:00:00.5'", time(10, 0, 0, 500_000), pa.time64("us"))],
    "time": [("'00:00:00'", time(0), pa.time64("us"))],
    "datetime(6)": [("'2024-01-01 00:00:00.123456'", NO_ZONE, pa.timestamp("us"))],
    "datetime": [("'9999-12-31 23:59:59'", datetime(9999, 12, 31, 23, 59, 59), pa.timestamp("us"))],  # noqa: DTZ001 - the same
    "timestamp(6) NULL": [("'2024-01-01 00:00:00.123456'", NO_ZONE.replace(tzinfo=UTC), pa.timestamp("us", "UTC"))],
}
REFUSED_IN_MARIA = {
    ("float", "0.1"): "type FLOAT, which has no exact counterpart here; let the query cast it, as CAST(`x` AS DOUBLE)",
    ("point", "point(1, 2)"): "type GEOMETRY, which has no exact counterpart here; let the query cast it, as ST_AsText(`x`)",
    ("decimal(40, 2)", "1"): "type DECIMAL of 40 digits, which has no exact counterpart here; say how many digits are enough",
    ("date", "'0000-00-00'"): "'0000-00-00' as a scalar of type date32[day]; let the query say what it means there, as CASE WHEN",
    ("date", "'2024-00-00'"): "'2024-00-00' as a scalar of type date32[day]",
    ("datetime(6)", "0"): "'0000-00-00 00:00:00.000000' as a scalar",
    ("timestamp NULL", "0"): "'0000-00-00 00:00:00' as a scalar",
    ("time", "'24:00:00'"): "'1970-01-01 24:00:00' as a scalar",
    ("time", "'-01:00:00'"): "'1970-01-01 -01:00:00' as a scalar",
}
MEND_IN_MARIA = {
    ("float", "0.1", "CAST(x AS DOUBLE)"): 0.10000000149011612,
    ("point", "point(1, 2)", "ST_AsText(x)"): "POINT(1 2)",
    ("date", "'0000-00-00'", "CASE WHEN x = 0 THEN NULL ELSE x END"): None,
}


def in_maria(address: str, columns: dict[str, str], values: list[str], select: str = "x", **more: Any) -> pa.Table:
    """What comes of columns with values, and of a row without values."""
    listed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    with connected(address) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        cursor.execute(f"CREATE OR REPLACE TABLE o (at datetime(6), {listed})")
        cursor.execute(f"INSERT INTO o VALUES ('2024-01-01 01:00:00', {', '.join(values)})")
        cursor.execute("INSERT INTO o (at) VALUES ('2024-01-01 02:00:00')")
    return rows_of(address, f"SELECT at, {select} FROM o WHERE at >= {{start}} AND at < {{end}} ORDER BY at", **more)


def test_types_of_mariadb_arrive_exactly(shop_database: str) -> None:
    cases = [(kind, *case) for kind, several in IN_MARIA.items() for case in several]
    names = {f"x{at}": kind for at, (kind, *_) in enumerate(cases)}
    table = in_maria(shop_database, names, [literal for _, literal, *_ in cases], ", ".join(names))
    for name, (kind, literal, value, stored) in zip(names, cases, strict=True):
        given, empty = table[name].to_pylist()
        assert (str(given), given, empty, table[name].type) == (str(value), value, None, stored), (kind, literal)
    query = "SELECT NULL AS n, 7 AS i, 1.50 AS d, x'00' AS b, '%s' AS t, {start:s} AS s FROM o WHERE at >= {start} AND at < {end}"
    assert [*rows_of(shop_database, query).to_pylist()[0].values()] == [None, 7, Decimal("1.50"), b"\0", "%s", 1_704_067_200]
    large = in_maria(shop_database, {"x": "decimal(40, 2)"}, ["1.1"], types={"x": "DECIMAL(38, 2)"})
    assert large["x"].to_pylist() == ["1.10", None]


@pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"])
def test_a_text_of_a_border_is_a_literal_whatever_it_holds(shop_database: str, mode: str) -> None:
    with connected(shop_database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@GLOBAL.sql_mode")
        ((before,),) = cursor.fetchall()
        cursor.execute(f"SET GLOBAL sql_mode = '{mode}'")
        try:
            given = rows_of(shop_database, "SELECT {start:%Y\\' OR ''=} AS x, {end:us} AS y").to_pylist()
        finally:
            cursor.execute(f"SET GLOBAL sql_mode = '{before}'")
    assert given == [{"x": "2024\\' OR ''=", "y": 1_704_153_600_000_000}]


@at_length
@pytest.mark.parametrize(("kind", "literal"), REFUSED_IN_MARIA)
def test_types_of_mariadb_without_an_exact_counterpart_are_refused(shop_database: str, kind: str, literal: str) -> None:
    with pytest.raises((SourceError, OSError), match=re.escape(REFUSED_IN_MARIA[kind, literal])):
        in_maria(shop_database, {"x": kind}, [literal])


@at_length
@pytest.mark.parametrize(("kind", "literal", "mend"), MEND_IN_MARIA)
def test_what_a_refusal_advises_is_read(shop_database: str, kind: str, literal: str, mend: str) -> None:
    table = in_maria(shop_database, {"x": kind}, [literal], f"{mend} AS x")
    assert table["x"].to_pylist() == [MEND_IN_MARIA[kind, literal, mend], None]


@at_length
def test_order_by_of_a_query_of_mariadb_counts_and_rows_may_be_left(shop_database: str) -> None:
    with connected(shop_database) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE o (at datetime, n int, gone datetime)")
        cursor.execute("INSERT INTO o SELECT '2024-01-01', seq, IF(seq % 2, NULL, now()) FROM seq_1_to_20000")
    query = "SELECT * FROM o WHERE at >= {start} AND at < {end} ORDER BY n DESC"
    assert rows_of(shop_database, query, deleted="gone")["n"].to_pylist() == [*range(19999, 0, -2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUNTIN_TEST_SQL", shop_database)
        stream = sources.sql("env:MUNTIN_TEST_SQL", query, event_time="at").fetch(START, END)
        assert stream.read_next_batch().num_rows < 20000
        del stream
    with pytest.raises(SourceError, match="You have an error in your SQL syntax"):
        rows_of(shop_database, 'SELECT * FROM o WHERE at >= "{start:%Y-%m-%d} 00:00" AND at < {end}')
    with pytest.raises(SourceError, match=r"no column 'away' \(deleted\) in its rows; there are at, n, gone"):
        rows_of(shop_database, query, deleted="away")


def test_types_of_sqlite_are_those_of_values(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE o (at TEXT, n, x, t, b)")
        rows: list[Any] = [("2024-01-01 05:00:00", 2**62, 0.1, "Ä", b"\x00\xff"), ("2024-01-01 06:00:00", None, None, None, None)]
        connection.executemany("INSERT INTO o VALUES (?, ?, ?, ?, ?)", rows)
    address, border = f"sqlite:///{tmp_path}/shop.db", "%Y-%m-%d %H:%M:%S"
    query = f"SELECT * FROM o WHERE at >= {{start:{border}}} AND at < {{end:{border}}}"
    table = rows_of(address, query)
    assert [tuple(each.values()) for each in table.to_pylist()] == rows
    assert [str(each) for each in table.schema.types] == ["string", "int64", "double", "string", "binary"]
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("INSERT INTO o VALUES ('2024-01-01 07:00:00', 1.5, 1, 'x', 'text')")
    with pytest.raises(SourceError, match=r"column 'n' holds values of several kinds \(float, int\).* CAST\(\"n\" AS REAL\)"):
        rows_of(address, query)
