"""Values on their way into PostgreSQL: what comes out is what went in, to the last bit."""

import math
import random
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from muntin.extensions.postgres.rows import copy_text
from muntin.extensions.postgres.sql import type_of

INSTANT = datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)
VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.string(), ["", "\\N", "\\.", "a\tb\nc\rd\\n", "\\\\", "ä'\"", "\x01\x7f", "\u2028", "🙂"]),
    (pa.large_string(), ["\\\t"]),
    (pa.binary(), [b"", b"\x00\\\n\xff"]),
    (pa.float64(), [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 1e16, 123456789.123456789]),
    (pa.float32(), [0.5, -1.25]),
    (pa.int64(), [-(2**63), 2**63 - 1]),
    (pa.uint8(), [255]),
    (pa.bool_(), [True, False]),
    (pa.decimal128(38, 10), [Decimal("12345678901234567890.0000000001"), Decimal("-0.0000000001")]),
    (pa.timestamp("us", tz="UTC"), [INSTANT, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]),
    (pa.timestamp("us", tz="Asia/Kolkata"), [INSTANT]),
    (pa.timestamp("us"), [INSTANT.replace(tzinfo=None)]),
    (pa.date32(), [date(1969, 12, 31)]),
    (pa.time64("us"), [time(1, 2, 3, 4)]),
    (pa.duration("us"), [timedelta(days=3, microseconds=-1), timedelta(0)]),
    (pa.list_(pa.string()), [['a\\\n"', None], []]),
    (pa.struct([("x", pa.float64())]), [{"x": 0.1}]),
]


def bits(value: Any) -> Any:
    return struct.pack("d", value) if isinstance(value, float) else value.astimezone(UTC) if getattr(value, "tzinfo", None) else value


@pytest.fixture(scope="module")
def connection(postgres: str) -> Any:
    with psycopg.connect(postgres, autocommit=True, options="-c TimeZone=UTC") as connection:
        yield connection


def there_and_back(connection: psycopg.Connection, table: pa.Table) -> list[tuple[Any, ...]]:
    columns = ", ".join(f"c{at} {type_of(field.type)}" for at, field in enumerate(table.schema))
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE t (at serial, {columns})")
        with cursor.copy(f"COPY t ({', '.join(f'c{at}' for at in range(table.num_columns))}) FROM STDIN") as copy:
            copy.write(copy_text(table))
        return [row[1:] for row in cursor.execute("SELECT * FROM t ORDER BY at").fetchall()]


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[str(kind) for kind, _ in VALUES])
def test_each_type(connection: psycopg.Connection, kind: pa.DataType, values: list[Any]) -> None:
    given = [*values, None]
    table = pa.table({"a": pa.array(given, kind), "b": pa.array(given[::-1], kind)})
    found = there_and_back(connection, table)
    assert [tuple(map(bits, row)) for row in found] == [(bits(a), bits(b)) for a, b in zip(given, given[::-1], strict=True)]


def test_not_a_number(connection: psycopg.Connection) -> None:
    ((single,),) = there_and_back(connection, pa.table({"x": [math.nan]}))
    assert math.isnan(single)


def test_random_doubles_and_texts(connection: psycopg.Connection) -> None:
    dice = random.Random(7)
    floats = [struct.unpack("d", dice.randbytes(8))[0] for _ in range(2000)]
    texts = ["".join(chr(dice.choice([9, 10, 13, 34, 46, 78, 92, 65, 228])) for _ in range(dice.randrange(6))) for _ in floats]
    found = there_and_back(connection, pa.table({"x": floats, "k": texts}))
    same = [(math.isnan(a) and math.isnan(x)) or bits(a) == bits(x) for (a, _), x in zip(found, floats, strict=True)]
    assert all(same)
    assert [k for _, k in found] == texts
