"""MySQL and MariaDB, by PyMySQL. The server writes values as texts, which Arrow reads: nothing is rounded.

The query is sent as the user wrote it, since MariaDB forgets the ORDER BY of a query within another.
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.extras import need
from muntin.errors import SourceError
from muntin.extensions.sql.query import NEWEST, PARAMETER
from muntin.files.connections import connection_of_uri
from muntin.sinks.addresses import tls_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.extensions.sql.query import Asked, Query

TEXT = "CHAR"
_AT_ONCE = 2**10
_UNSIGNED, _BINARY, _MOST_DIGITS = 32, 63, 38
_INTEGERS = {1: 8, 2: 16, 3: 32, 8: 64, 9: 32, 13: 16}
"""Codes of types -> bits; 13 is a year, without sign."""
_TIMES = {7: pa.timestamp("us", "UTC"), 10: pa.date32(), 11: pa.time64("us"), 12: pa.timestamp("us")}
_TEXTS = {6, 15, 245, 249, 250, 251, 252, 253, 254}
"""Of null, JSON, and whatever is text or bytes."""
_DECIMALS, _DOUBLE, _BIT = {0, 246}, 5, 16
_INEXACT = {4: ("FLOAT", "CAST({} AS DOUBLE)"), 255: ("GEOMETRY", "ST_AsText({})")}
"""The server shows six digits of a FLOAT."""


def placeholder(name: str, value: Any) -> str:  # noqa: ANN401 - an instant, a text or a number
    """The SQL of a parameter. The comment breaks a text in double quotes that a border stands in."""
    return f'/*"*/ {"TIMESTAMP " * isinstance(value, datetime)}:{name}'


def quoted(name: str) -> str:
    """The name of a column, whatever the mode of the server."""
    return f"`{name.replace('`', '``')}`"


def answers(address: str, asked: Asked) -> list[tuple[Any, ...]]:
    """The few rows of a statement."""
    with closing(_opened(address)) as connection, connection.cursor() as cursor:
        cursor.execute(_bound(connection, asked))
        return list(cursor.fetchall())


def stream(address: str, asked: Asked, query: Query) -> pa.RecordBatchReader:
    """The rows of a statement, as the server sends them."""
    batches = _batches(address, asked, query)
    return pa.RecordBatchReader.from_batches(next(batches), batches)


def _batches(address: str, asked: Asked, query: Query) -> Iterator[Any]:
    """The schema, and then batches."""
    result: Any = None
    connection = _opened(address, streams=True)
    try:
        cursor = connection.cursor()
        cursor.execute(_bound(connection, asked))
        result = cursor._result  # noqa: SLF001 - the description has neither signs nor character sets
        columns = [_Column(field, query) for field in result.fields]
        at = [number for number, each in enumerate(columns) if each.name != NEWEST]
        names = [columns[number].name for number in at]
        if query.deleted not in (None, *names):
            raise SourceError(
                f"no column {query.deleted!r} (deleted) in its rows; there are {', '.join(names)}"
            )
        schema = pa.schema([(columns[number].name, columns[number].kind) for number in at])
        yield schema
        while rows := cursor.fetchmany(_AT_ONCE):
            values = [*zip(*rows, strict=True)]
            batch = pa.record_batch([columns[number].values(values[number]) for number in at], schema=schema)
            yield batch if query.deleted is None else batch.filter(_there(batch.column(query.deleted)))
    finally:
        if result is not None:
            result.unbuffered_active = False  # the driver would read all that is left
        connection.close()


def _there(mark: pa.Array) -> pa.Array:
    """Which rows are not marked as deleted."""
    if pa.types.is_integer(mark.type) or pa.types.is_boolean(mark.type):
        return pc.invert(mark.cast(pa.bool_()).fill_null(False))  # noqa: FBT003 - of Arrow
    return mark.is_null()


def _opened(address: str, *, streams: bool = False) -> Any:  # noqa: ANN401 - of PyMySQL
    """A connection by UTC that writes nothing. `streams`: rows come as the server sends them, as texts."""
    need("pymysql")
    import pymysql
    from pymysql.converters import encoders
    from pymysql.cursors import SSCursor

    server = connection_of_uri(address)
    connection = pymysql.connect(
        host=server.host,
        port=server.port or 3306,
        user=server.login,
        password=server.password or "",
        database=server.schema,
        charset="utf8mb4",
        init_command="SET time_zone = '+00:00'",
        **({"conv": encoders, "cursorclass": SSCursor} if streams else {}),
        **tls_settings(server),
    )
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
    return connection


def _bound(connection: Any, asked: Asked) -> str:  # noqa: ANN401 - of PyMySQL
    """The statement with its parameters, as the driver binds them: each a literal of its own."""

    def literal(value: Any) -> str:  # noqa: ANN401 - an instant, a text or a number
        text = f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}" if isinstance(value, datetime) else value
        return str(connection.escape(text))

    return PARAMETER.sub(lambda match: literal(asked.values[match[1]]), asked.sql)


class _Column:
    """A column of the query, and its values in the type of Arrow."""

    def __init__(self, field: Any, query: Query) -> None:  # noqa: ANN401 - of PyMySQL
        self.name, code = field.name, field.type_code
        unsigned = bool(field.flags & _UNSIGNED)
        self.raw: pa.DataType = pa.string()
        digits = field.length - (field.scale > 0) - (not unsigned)
        if bits := _INTEGERS.get(code):
            self.kind = getattr(pa, f"{'u' * unsigned}int{bits}")()
        elif code in _TIMES:
            self.kind = _TIMES[code]
        elif code == _DOUBLE:
            self.kind = pa.float64()
        elif code == _BIT:
            self.raw, self.kind = pa.uint64(), pa.bool_() if field.length == 1 else pa.uint64()
        elif code in _TEXTS:
            is_bytes = field.charsetnr == _BINARY and code not in (6, 245)
            self.raw = self.kind = pa.binary() if is_bytes else pa.string()
        elif code in _DECIMALS and self.name in query.types:
            self.kind = pa.string()
        elif code in _DECIMALS and digits <= _MOST_DIGITS:
            self.kind = pa.decimal128(digits, field.scale)
        else:
            raise self._refused(code, digits)

    def values(self, given: tuple[Any, ...]) -> pa.Array:
        """The values of a batch."""
        if self.raw == pa.uint64():
            given = tuple(None if value is None else int.from_bytes(value) for value in given)
        values = pa.array(given, self.raw)
        try:
            if pa.types.is_time(self.kind):
                values = pc.binary_join_element_wise("1970-01-01", values, " ")
            if pa.types.is_time(self.kind) or pa.types.is_timestamp(self.kind):
                values = values.cast(pa.timestamp("us"))
            return values.cast(self.kind)
        except pa.ArrowInvalid as wrong:
            case = f"CASE WHEN ... THEN NULL ELSE {quoted(self.name)} END"
            raise SourceError(
                f"column {self.name!r}: {wrong}; let the query say what it means there, as {case}"
            ) from wrong

    def _refused(self, code: int, digits: int) -> SourceError:
        if code in _DECIMALS:
            kind = f"DECIMAL of {digits} digits"
            mend = f"say how many digits are enough, as types={{{self.name!r}: 'DECIMAL(38, 2)'}}"
        else:
            kind, cast = _INEXACT.get(code, (f"type {code}", "CAST({} AS CHAR)"))
            mend = f"let the query cast it, as {cast.format(quoted(self.name))}"
        return SourceError(
            f"column {self.name!r} is of MySQL's type {kind}, which has no exact counterpart here; {mend}"
        )
