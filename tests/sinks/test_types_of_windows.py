"""Windows of every type in a table of PostgreSQL, read back: each value is there as it was published."""

import math
from dataclasses import replace
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import read, sinks
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.end_to_end.exact_values import exact, says
from tests.end_to_end.typed_columns import COLUMNS
from tests.end_to_end.written_by import EVERY, of_rows, table_of
from tests.maria_server import connected

_TEXTS = [text for text in COLUMNS["text"].to_pylist() if text != "\0"]  # which PostgreSQL refuses
PLAIN = {name: column for name, column in EVERY.items() if not column.type.num_fields and name != "nothing"} | {"text": pa.array(_TEXTS)}
_AS_TEXT = {"float16": "{}::float8::text", "float32": "{}::float8::text", "bytes": "encode({}, 'hex')", "bytes of two": "encode({}, 'hex')"}


def test_values_come_out_as_they_went_in(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", database)
    made = of_rows(tmp_path, "parquet", [*PLAIN])
    made = replace(made, other={**made.other, "to": sinks.postgres("env:WAREHOUSE", table="t")})
    pq.write_table(table_of(PLAIN), made.write("00.parquet", {"at": []}))
    made.run()
    send(bind(made.pipeline, made.root))
    published = read(made.pipeline, "hour", root=made.root).sort_by("row")
    with psycopg.connect(database, options="-c TimeZone=UTC -c extra_float_digits=3") as connection:
        rows = connection.execute(
            f"SELECT {', '.join(_AS_TEXT.get(name, '{}::text').format(f'v{at}') for at, name in enumerate(PLAIN))} FROM t ORDER BY row"
        ).fetchall()
    assert len(rows) == len(published) > 5
    for at, name in enumerate(PLAIN):
        values = [each.hex() if isinstance(each, bytes) else each for each in exact(published[f"v{at}"])]
        pairs = list(zip([row[at] for row in rows], values, strict=True))
        assert [pair for pair in pairs if not says(*pair)] == [], name


FINITE = {
    name: pa.array([value for value in column.to_pylist() if value is None or math.isfinite(value)], column.type)
    for name, column in EVERY.items()
    if pa.types.is_floating(column.type)
}
_IN_WORDS = {"bytes": "HEX({})", "bytes of two": "HEX({})", "bool": "IF({0} IS NULL, NULL, IF({0}, 'true', 'false'))"}
IN_MARIA = {name: column for name, column in EVERY.items() if not column.type.num_fields and name != "nothing"} | FINITE


def test_values_come_out_of_mariadb_as_they_went_in(tmp_path: Path, shop_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP", shop_database)
    made = of_rows(tmp_path, "parquet", [*IN_MARIA])
    made = replace(made, other={**made.other, "to": sinks.mysql("env:SHOP", table="t")})
    pq.write_table(table_of(IN_MARIA), made.write("00.parquet", {"at": []}))
    made.run()
    (sent,) = send(bind(made.pipeline, made.root))
    assert (sent.failed, sent.misfits) == ("", ())
    published = read(made.pipeline, "hour", root=made.root).sort_by("row")
    told = [_IN_WORDS.get(name, "CAST({} AS CHAR)").format(f"v{at}") for at, name in enumerate(IN_MARIA)]
    with connected(shop_database) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(told)} FROM t ORDER BY `row`")
        rows = cursor.fetchall()
    assert len(rows) == len(published) > 5
    for at, name in enumerate(IN_MARIA):
        values = [each.hex().upper() if isinstance(each, bytes) else each for each in exact(published[f"v{at}"])]
        pairs = list(zip([row[at] for row in rows], values, strict=True))
        assert [pair for pair in pairs if not says(*pair)] == [], name
