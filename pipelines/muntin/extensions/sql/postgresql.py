"""PostgreSQL: ADBC's driver reads the rows, by COPY in binary; psycopg tells the types of columns.

COPY takes no parameters, so the borders are settings of the transaction, which the query reads.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.extras import need
from muntin.errors import SourceError
from muntin.extensions.sql.query import NEWEST, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.extensions.sql.query import Asked, Query

TEXT = "TEXT"
_AS_THEY_ARE = {
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "bpchar", "name", "bytea"),
    *("date", "time", "timestamp", "timestamptz"),
}
_AS_TEXT = {"uuid", "json", "jsonb"}
_MOST_DIGITS = 38
_FINITE = {
    "date": (-2_440_588, 2**31 - 1),
    "time": (0, 86_400_000_000 - 1),
    "timestamp": (-(2**63) + 2**50, 2**63 - 2**50),
    "timestamptz": (-(2**63) + 2**50, 2**63 - 2**50),
}
"""The values that are times: days, or microseconds."""
_CASE = "let the query say what it means there, as CASE WHEN ... THEN NULL"
_UNTIL_INT64 = 18  # digits
_BATCH_BYTES = str(2**24)


def placeholder(name: str, value: Any) -> str:  # noqa: ANN401 - an instant, a text or a number
    """The SQL of a parameter: a setting, in the type of its value."""
    kinds = {datetime: "::timestamptz", int: "::bigint"}
    return f"current_setting('muntin.{name}'){kinds.get(type(value), '')}"


def answers(address: str, asked: Asked) -> list[tuple[Any, ...]]:
    """The few rows of a statement, as Python has them."""
    with _described(address, asked) as connection:
        return connection.execute(asked.sql).fetchall()  # type: ignore[no-any-return]


def stream(address: str, asked: Asked, query: Query) -> pa.RecordBatchReader:
    """The rows of a statement, by one COPY."""
    need("adbc_driver_postgresql")
    from adbc_driver_postgresql import dbapi

    with _described(address, asked) as connection:
        described = connection.execute(f"SELECT * FROM ({asked.sql}) AS q LIMIT 0").description
        types = connection.adapters.types
        columns = [
            _Column(each, types.get(each.type_code), query) for each in described if each.name != NEWEST
        ]
    listed = ", ".join(each.expression for each in columns)
    select = f"SELECT {listed} FROM ({asked.sql}) AS q{_there(columns, query.deleted)}"
    connection = dbapi.connect(address)
    try:
        cursor = connection.cursor()
        cursor.execute("SET LOCAL TIME ZONE 'UTC'")
        for name, value in asked.values.items():
            cursor.execute("SELECT set_config($1, $2, true)", (f"muntin.{name}", _text(value)))
            cursor.fetchall()
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": _BATCH_BYTES})
        cursor.execute(select)
        given = cursor.fetch_record_batch()
    except BaseException:
        connection.close()
        raise
    kinds = [each.decimal or own for each, own in zip(columns, given.schema.types, strict=True)]
    schema = pa.schema([(each.name, kind) for each, kind in zip(columns, kinds, strict=True)])

    def batches() -> Iterator[pa.RecordBatch]:
        with connection, cursor:
            for batch in given:
                arrays = map(_Column.values, columns, batch.columns)
                yield pa.RecordBatch.from_arrays([*arrays], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _there(columns: Sequence[_Column], deleted: str | None) -> str:
    """The condition of rows that are not marked as deleted."""
    if deleted is None:
        return ""
    kind, mark = next((each.kind for each in columns if each.name == deleted), ""), f"q.{quoted(deleted)}"
    flags = {"bool": f" OR NOT {mark}"} | dict.fromkeys(("int2", "int4", "int8"), f" OR {mark} = 0")
    return f" WHERE {mark} IS NULL{flags.get(kind, '')}"


@contextmanager
def _described(address: str, asked: Asked) -> Iterator[Any]:
    """A connection of psycopg, in a transaction with the parameters of a statement."""
    need("psycopg")
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        connection.execute("SET LOCAL TIME ZONE 'UTC'")
        for name, value in asked.values.items():
            connection.execute("SELECT set_config(%s, %s, true)", (f"muntin.{name}", _text(value)))
        yield connection


def _text(value: Any) -> str:  # noqa: ANN401 - an instant, a text or a number
    return value.isoformat() if isinstance(value, datetime) else str(value)


class _Column:
    """A column of the query: how it is asked for, and what comes of it."""

    def __init__(self, described: Any, info: Any, query: Query) -> None:  # noqa: ANN401 - of psycopg
        self.name, self.digits, self.scale = described.name, described.precision, described.scale
        is_list = bool(info and described.type_code == info.array_oid)
        self.kind = f"{info.name}[]" if is_list else info.name if info else f"type {described.type_code}"
        self.expression = plain = f"q.{quoted(self.name)}"
        self.decimal: pa.DataType | None = None
        plain_kind = self.kind.removesuffix("[]")
        if plain_kind in (*_AS_THEY_ARE, *_AS_TEXT):
            if plain_kind in _AS_TEXT:
                plain = f"{plain}::text{'[]' if is_list else ''}"
            if is_list:  # the driver has one dimension alone: let the cast of another fail
                kind = plain_kind if plain_kind in _AS_THEY_ARE else "text"
                several = f"('several dimensions: ' || {plain}::text)::{kind}[]"
                plain = f"CASE WHEN array_ndims({plain}) > 1 THEN {several} ELSE {plain} END"
            self.expression = f"{plain} AS {quoted(self.name)}"
        elif self.kind == "numeric" and self.name in query.types:
            self.expression = f"{plain}::text AS {quoted(self.name)}"
        elif self.kind == "numeric" and self.digits and 0 <= self.scale <= self.digits <= _MOST_DIGITS:
            self.decimal = pa.decimal128(self.digits, self.scale)
            if self.digits <= _UNTIL_INT64:
                self.expression = f"({plain} * 1e{self.scale})::bigint AS {quoted(self.name)}"
            else:
                self.expression = f"{plain}::text AS {quoted(self.name)}"
        else:
            mend = (
                f"say how many digits it has, as types={{{self.name!r}: 'DECIMAL(18, 2)'}}"
                if self.kind == "numeric"
                else f"let the query cast it, as {quoted(self.name)}::text"
            )
            raise SourceError(f"column {self.name!r} is of PostgreSQL's type {self.kind}, which has no exact"
                              f" counterpart here; {mend}")  # fmt: skip

    def values(self, given: pa.Array) -> pa.Array:
        """The values in the type of the column."""
        if self.decimal is None:
            self._check_finite(given)
            return given
        if pa.types.is_int64(given.type):
            whole = given.cast(pa.decimal128(19, 0)).cast(pa.decimal128(_MOST_DIGITS, 0))
            return pa.Array.from_buffers(
                self.decimal, len(whole), whole.buffers(), null_count=whole.null_count, offset=whole.offset
            )
        try:
            return given.cast(self.decimal)
        except pa.ArrowInvalid as wrong:
            raise SourceError(f"column {self.name!r}: {wrong}; {_CASE}") from wrong

    def _check_finite(self, given: pa.Array) -> None:
        """Refuse infinity, which the driver gives as some time, and 24:00."""
        limits = _FINITE.get(self.kind)
        if limits and len(given) > given.null_count:
            least, most = pc.min_max(given.cast(pa.int32() if self.kind == "date" else pa.int64())).values()
            if not limits[0] <= least.as_py() <= most.as_py() <= limits[1]:
                raise SourceError(
                    f"column {self.name!r} holds infinity, or a time that is none of a day; {_CASE}"
                )
