"""The statements that a sink of MySQL makes, the types of its columns, and values as text. Pure.

<table>         a row for each window: muntin_id, a digest of what tells it from other windows; keys, bounds,
results, revision muntin_ledger   a row for each pipeline, window and table: how far the table is

The digest is the primary key, since MySQL has no unique null, no unique text of any length, and takes "a" and
"a " for the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import pyarrow as pa

from muntin.extensions.mysql.sink import ID
from muntin.sinks.errors import RefusedError, as_json, is_bytes

LEDGER = "muntin_ledger"
_MOST_DIGITS, _MOST_DECIMALS = 65, 30
_INDEXED = 8
"""Columns of the index at most: a service asks by keys and time."""
_PLACE = ("window_start", "window_end", "window_index")
_LONG = ("longtext", "longblob")
_TYPES = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "tinyint unsigned",
    pa.uint16(): "smallint unsigned",
    pa.uint32(): "int unsigned",
    pa.uint64(): "bigint unsigned",
    pa.float16(): "double",  # MySQL shows a float in six digits
    pa.float32(): "double",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.date64(): "date",
}


def quoted(name: str) -> str:
    """A quoted SQL name, also where the driver looks for "%s"."""
    return f"`{name.replace('`', '``')}`".replace("%", "%%")


def digest(*parts: object) -> bytes:
    """The digest that tells rows apart: 32 bytes."""
    return sha256(as_json(parts).encode()).digest()


def type_of(kind: pa.DataType) -> str:
    """The type of MySQL for a type of Arrow; lists and structs become JSON, spans of time microseconds,
    nanoseconds text.

    >>> type_of(pa.timestamp("us", tz="UTC")), type_of(pa.decimal128(12, 2)), type_of(pa.list_(pa.int64()))
    ('datetime(6)', 'decimal(12,2)', 'json')
    """
    if getattr(kind, "unit", "") == "ns":
        return "longtext"
    if pa.types.is_decimal(kind) and kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= _MOST_DECIMALS:
        return f"decimal({kind.precision},{kind.scale})"
    kinds = {
        pa.types.is_timestamp: "datetime(6)",
        pa.types.is_nested: "json",
        pa.types.is_time: "time(6)",
        pa.types.is_duration: "bigint",
    }
    for is_kind, name in {**kinds, is_bytes: "longblob"}.items():
        if is_kind(kind):
            return name
    return _TYPES.get(kind, "longtext")


def make_ledger() -> str:
    """The statement that makes the ledger."""
    return (
        f"CREATE TABLE IF NOT EXISTS {LEDGER} ({ID} binary(32) PRIMARY KEY, pipeline longtext, `window`"
        " longtext, table_name longtext, version bigint NOT NULL, position longtext NOT NULL, changes bigint"
        " NOT NULL, sent_at datetime(6) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )


def make_table(table: str, types: Mapping[str, str], keys: Sequence[str], comment: str) -> str:
    """The statement that makes a table, with an index over keys and time.

    Texts are compared as they are, each letter for itself.
    """
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
    indexed = [name for name in keys if types[name] != "json"][:_INDEXED]
    parts = ", ".join(f"{quoted(name)}{'(60)' if types[name] in _LONG else ''}" for name in indexed)
    return (
        f"CREATE TABLE {quoted(table)} ({ID} binary(32) PRIMARY KEY, {columns}, INDEX muntin_keys ({parts})) "
        f"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='{comment}'"
    )


def upsert(table: str, names: Sequence[str], rows: int, *, latest: bool = False) -> str:
    """The statement that inserts or updates so many rows. `latest`: no older window replaces a newer.

    MySQL assigns one column after the other, and a later condition sees what was assigned: the columns that
    are compared come last.
    """
    place = [name for name in _PLACE if name in names]
    ordered_names = [*(name for name in names if name not in place), *place]
    comes, was = (
        ", ".join(each)
        for each in zip(*((f"VALUES({quoted(name)})", quoted(name)) for name in reversed(place)), strict=True)
    )
    value = "IF(({comes}) >= ({was}), VALUES({name}), {name})" if latest else "VALUES({name})"
    updates = ", ".join(
        f"{quoted(name)} = {value.format(comes=comes, was=was, name=quoted(name))}" for name in ordered_names
    )
    holes = ", ".join([f"({', '.join(['%s'] * (len(names) + 1))})"] * rows)
    listed = ", ".join([ID, *map(quoted, names)])
    return f"INSERT INTO {quoted(table)} ({listed}) VALUES {holes} ON DUPLICATE KEY UPDATE {updates}"


def delete(table: str, rows: int) -> str:
    """The statement that removes so many windows."""
    return f"DELETE FROM {quoted(table)} WHERE {ID} IN ({', '.join(['%s'] * rows)})"


def values_of(rows: pa.Table, name: str) -> list[Any]:
    """The values of a column as bytes or as text; the server reads each by the type of its column, and
    refuses what does not fit.

    A value in a list or a struct that Python does not know, as the year 12345, is refused.
    """
    column = rows[name].combine_chunks()
    try:
        kind = column.type
        if is_bytes(kind):
            return column.to_pylist()
        if pa.types.is_nested(kind):
            return [None if value is None else as_json(value) for value in column.to_pylist()]
        if pa.types.is_boolean(kind):
            column = column.cast(pa.int8())
        elif pa.types.is_floating(kind):
            column = column.cast(pa.float64())  # the shortest text of a float is another double
        elif pa.types.is_duration(kind) and kind.unit != "ns":
            column = column.cast(pa.duration("us")).cast(pa.int64())
        elif pa.types.is_timestamp(kind) and kind.unit != "ns":
            column = column.cast(pa.timestamp("us"))
        return column.cast(pa.string()).to_pylist()
    except (OverflowError, ValueError) as wrong:
        raise RefusedError(str(wrong), name) from None
