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
from tests.postgres_server import database, postgres

__all__ = ["database", "postgres"]  # pytest looks for them here
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
