"""The statements that a sink of PostgreSQL makes, and the types of its columns. Pure text.

<schema>.<table>         a row for each window: identity columns (unique, nulls alike), bounds, results,
revision <schema>.muntin_ledger   a row for each pipeline, window and table: how far the table is, what it
looked like, what does not fit into it

The table of a sink as it is in PostgreSQL: its columns and rows.

A table that is dropped and made again has another oid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.sinks.errors import is_bytes
from muntin.sinks.misfits import COUNTED, Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg
LEDGER = "muntin_ledger"
ROWS = "muntin_rows"
"""The temporary table that rows come through."""
NEVER_NULL = ("window_start", "window_end", "window_index")
SETTINGS = (
    "SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL TimeZone"
    " = 'UTC'"
)
_TYPES = {
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "integer",
    pa.uint32(): "bigint",
    pa.uint64(): "numeric(20,0)",
    pa.float16(): "real",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.date64(): "date",
}


def quoted(name: str) -> str:
    """A quoted SQL name; each part of a dotted name is quoted separately.

    >>> quoted("reports.day")
    '"reports"."day"'
    """
    return ".".join(f'"{part.replace(chr(34), chr(34) * 2)}"' for part in name.split("."))


def ledger_of(table: str) -> str:
    """The ledger beside a table, quoted.

    >>> ledger_of("reports.day"), ledger_of("day")
    ('"reports"."muntin_ledger"', '"muntin_ledger"')
    """
    schema, dot, _ = table.rpartition(".")
    return quoted(f"{schema}{dot}{LEDGER}")


def type_of(kind: pa.DataType) -> str:
    """The type of PostgreSQL for a type of Arrow, spelled as its catalog does; lists and structs become JSON.

    >>> type_of(pa.timestamp("us", tz="UTC")), type_of(pa.decimal128(12, 2)), type_of(pa.list_(pa.int64()))
    ('timestamp with time zone', 'numeric(12,2)', 'jsonb')
    """
    if getattr(kind, "unit", "") == "ns":
        return "text"  # PostgreSQL has microseconds
    if pa.types.is_timestamp(kind):
        return "timestamp with time zone" if kind.tz else "timestamp without time zone"
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_nested(kind):
        return "jsonb"
    for is_kind, name in (
        (pa.types.is_time, "time without time zone"),
        (pa.types.is_duration, "interval"),
        (is_bytes, "bytea"),
    ):
        if is_kind(kind):
            return name
    return _TYPES.get(kind, "text")


def make_ledger(ledger: str) -> str:
    """The statement that makes a ledger."""
    return (
        f'CREATE TABLE IF NOT EXISTS {ledger} (pipeline text, "window" text, table_name text, state text NOT'
        " NULL, version bigint NOT NULL, mark text NOT NULL, target text NOT NULL, misfits text NOT NULL,"
        " rows bigint NOT NULL DEFAULT 0, sent_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (pipeline,"
        ' "window", table_name))'
    )


def make_table(table: str, schema: pa.Schema, identity: Sequence[str]) -> str:
    """The statement that makes a table; of null keys only one row may have each."""
    columns = ", ".join(f"{_quoted(field.name)} {type_of(field.type)}" for field in schema)
    return f"CREATE TABLE {quoted(table)} ({columns}, UNIQUE NULLS NOT DISTINCT ({_listed(identity)}))"


def add_column(table: str, field: pa.Field) -> str:
    """The statement that adds a column to a table."""
    return f"ALTER TABLE {quoted(table)} ADD COLUMN {_quoted(field.name)} {type_of(field.type)}"


def alter_column(table: str, name: str, kind: str, *, empty: bool) -> str:
    """The statement that gives a column another type.

    The values of a table that is empty need not be convertible.
    """
    column = _quoted(name)
    return (
        f"ALTER TABLE {quoted(table)} ALTER COLUMN {column} TYPE {kind} USING"
        f" {'NULL' if empty else column}::{kind}"
    )


def make_rows(schema: pa.Schema) -> str:
    """The statement that makes the temporary table, with the types of the windows."""
    columns = ", ".join(f"{_quoted(field.name)} {type_of(field.type)}" for field in schema)
    return f"CREATE TEMP TABLE {ROWS} ({columns}) ON COMMIT DROP"


def copy_rows(names: Sequence[str]) -> str:
    """The statement that rows follow."""
    return f"COPY {ROWS} ({_listed(names)}) FROM STDIN"


def loses(name: str, kind: str, there: str) -> str:
    """The question whether a value of the temporary table, of type `kind`, is another once it was of the type
    `there`.
    """
    column = _quoted(name)
    return f"SELECT EXISTS (SELECT 1 FROM {ROWS} WHERE {column}::{there}::{kind} IS DISTINCT FROM {column})"


def upsert(table: str, types: Mapping[str, str], identity: Sequence[str], *, latest: bool = False) -> str:
    """The statement that takes the rows over into the table, whose columns have these types.

    `latest`: no older window replaces a newer.
    """
    assignments = ", ".join(
        f"{_quoted(name)} = excluded.{_quoted(name)}" for name in types if name not in identity
    )
    values = ", ".join(f"{_quoted(name)}::{kind}" for name, kind in types.items())
    rows = f"SELECT {values} FROM {ROWS} WHERE change <> 'gone'"
    place = [name for name in ("window_index", "window_end", "window_start") if name in types]
    was, comes = (", ".join(f"{of}.{_quoted(name)}" for name in place) for of in ("t", "excluded"))
    newer = f" WHERE ({comes}) >= ({was})" if latest else ""
    update = f"ON CONFLICT ({_listed(identity)}) DO UPDATE SET {assignments}{newer}"
    return f"INSERT INTO {quoted(table)} AS t ({_listed([*types])}) {rows} {update}"


def delete(table: str, types: Mapping[str, str], identity: Sequence[str]) -> str:
    """The statement that removes the windows that are gone."""
    alike = (
        f"t.{_quoted(name)} {'=' if name in NEVER_NULL else 'IS NOT DISTINCT FROM'}"
        f" r.{_quoted(name)}::{types[name]}"
        for name in identity
    )
    return f"DELETE FROM {quoted(table)} t USING {ROWS} r WHERE r.change = 'gone' AND {' AND '.join(alike)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    """The name of a column, which may hold dots."""
    return f'"{name.replace(chr(34), chr(34) * 2)}"'


_COLUMNS = (
    "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
    "WHERE a.attrelid = to_regclass(%s)::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)
_CONSTRAINED = (
    "SELECT a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY"
    " (c.conkey) WHERE c.conrelid = to_regclass(%s)::oid AND c.conname = %s ORDER BY a.attnum"
)


def given_types(noted: str) -> dict[str, str]:
    """The columns whose type was given by Muntin, and that type."""
    columns: dict[str, tuple[str, str]] = json.loads(noted or "{}").get("columns", {})
    return {name: there for name, (there, given) in columns.items() if there == given}


def found(connection: psycopg.Connection, table: str) -> Target | None:
    """The table that a name stands for now; None: there is no such table."""
    if (oid := oid_of(connection, quoted(table))) is None:
        return None
    rows = _first(connection, f"SELECT count(*) FROM (SELECT 1 FROM {quoted(table)} LIMIT {COUNTED}) counted")
    return Target(oid, types_of(connection, table), rows)


def types_of(connection: psycopg.Connection, table: str) -> dict[str, str]:
    """The columns of a table and their types."""
    return dict(connection.execute(_COLUMNS, [quoted(table)]).fetchall())


def has_rows(connection: psycopg.Connection, table: str) -> bool:
    """Whether a table has a row."""
    return bool(_first(connection, f"SELECT EXISTS (SELECT 1 FROM {quoted(table)})"))


def oid_of(connection: psycopg.Connection, name: str) -> int | None:
    """The oid of the table of a quoted name; None: there is no such table."""
    return _first(connection, "SELECT to_regclass(%s)::oid::bigint", name)


def constrained(connection: psycopg.Connection, table: str, constraint: str) -> str:
    """The columns of a constraint."""
    return ", ".join(
        name for (name,) in connection.execute(_CONSTRAINED, [quoted(table), constraint]).fetchall()
    )


def _first(connection: psycopg.Connection, statement: str, *values: str) -> Any:  # noqa: ANN401 - whatever was asked for
    row = connection.execute(statement, values or None).fetchone()
    return row[0] if row else None
