"""SQLite, by Python's own module. A column has the type of its values, which must be of one kind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa

from muntin.errors import SourceError
from muntin.extensions.sql.query import NEWEST, PARAMETER, quoted

if TYPE_CHECKING:
    from muntin.extensions.sql.query import Asked, Query

TEXT = "TEXT"
_AT_ONCE = 2**16
_REAL = pa.float64()
_DECLARED = {"INT": pa.int64(), "BLOB": pa.binary(), "REAL": _REAL, "FLOA": _REAL, "DOUB": _REAL}
"""Words in declared types, in SQLite's own order -> the type of values."""


def placeholder(name: str, _value: Any) -> str:  # noqa: ANN401 - a text or a number
    """The SQL of a parameter."""
    return f":{name}"


def answers(address: str, asked: Asked) -> list[tuple[Any, ...]]:
    """The few rows of a statement."""
    with closing(_opened(address)) as connection:
        return connection.execute(asked.sql, dict(asked.values)).fetchall()


def stream(address: str, asked: Asked, query: Query) -> pa.RecordBatchReader:
    """The rows of a statement."""
    sql = asked.sql
    if query.deleted is not None:
        mark = f"q.{quoted(query.deleted)}"
        sql = f"SELECT * FROM ({sql}) AS q WHERE {mark} IS NULL OR {mark} = 0"
    with closing(_opened(address)) as connection:
        declared = _declared(connection, asked.sql)
        cursor = connection.execute(sql, dict(asked.values))
        names = [each[0] for each in cursor.description]
        columns: list[list[pa.Array]] = [[] for _ in names]
        while rows := cursor.fetchmany(_AT_ONCE):
            for name, pieces, values in zip(names, columns, zip(*rows, strict=True), strict=True):
                pieces.append(_array(name, values))
    arrays = [
        _joined(name, pieces, declared.get(name, pa.string()))
        for name, pieces in zip(names, columns, strict=True)
    ]
    asked_for = [at for at, name in enumerate(names) if name != NEWEST]
    return pa.table([arrays[at] for at in asked_for], names=[names[at] for at in asked_for]).to_reader()


def _opened(address: str) -> sqlite3.Connection:
    path = address.removeprefix("sqlite:///")
    return sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)


def _array(name: str, values: tuple[Any, ...]) -> pa.Array:
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) > 1:
        raise _mixed(name, {each.__name__ for each in kinds})
    return pa.array(values)


def _declared(connection: sqlite3.Connection, sql: str) -> dict[str, pa.DataType]:
    """The types of columns without values, as their tables declare them; a text where nothing does."""
    view = f"CREATE TEMP VIEW muntin_columns AS {PARAMETER.sub('NULL', sql)}"
    connection.execute(view)
    rows = connection.execute("PRAGMA temp.table_info(muntin_columns)").fetchall()
    return {
        name: next((own for word, own in _DECLARED.items() if word in kind.upper()), pa.string())
        for _, name, kind, *_ in rows
    }


def _joined(name: str, pieces: list[pa.Array], declared: pa.DataType) -> pa.ChunkedArray:
    """The column, in the type of its values."""
    kinds = {each.type for each in pieces if not pa.types.is_null(each.type)}
    if len(kinds) > 1:
        raise _mixed(name, {str(each) for each in kinds})
    kind = kinds.pop() if kinds else declared
    return pa.chunked_array([each.cast(kind) for each in pieces], kind)


def _mixed(name: str, kinds: set[str]) -> SourceError:
    return SourceError(
        f"column {name!r} holds values of several kinds ({', '.join(sorted(kinds))}), as SQLite allows; let"
        f" the query cast it, as CAST({quoted(name)} AS REAL)"
    )
