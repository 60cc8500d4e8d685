"""The table of a sink as it is in PostgreSQL: its columns and rows.

A table that is dropped and made again has another oid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muntin.extensions.postgres import sql
from muntin.sinks.targets import COUNTED, Target

if TYPE_CHECKING:
    import psycopg

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
    if (oid := oid_of(connection, sql.quoted(table))) is None:
        return None
    rows = _first(
        connection, f"SELECT count(*) FROM (SELECT 1 FROM {sql.quoted(table)} LIMIT {COUNTED}) counted"
    )
    return Target(oid, types_of(connection, table), rows)


def types_of(connection: psycopg.Connection, table: str) -> dict[str, str]:
    """The columns of a table and their types."""
    return dict(connection.execute(_COLUMNS, [sql.quoted(table)]).fetchall())


def has_rows(connection: psycopg.Connection, table: str) -> bool:
    """Whether a table has a row."""
    return bool(_first(connection, f"SELECT EXISTS (SELECT 1 FROM {sql.quoted(table)})"))


def oid_of(connection: psycopg.Connection, name: str) -> int | None:
    """The oid of the table of a quoted name; None: there is no such table."""
    return _first(connection, "SELECT to_regclass(%s)::oid::bigint", name)


def constrained(connection: psycopg.Connection, table: str, constraint: str) -> str:
    """The columns of a constraint."""
    return ", ".join(
        name for (name,) in connection.execute(_CONSTRAINED, [sql.quoted(table), constraint]).fetchall()
    )


def _first(connection: psycopg.Connection, statement: str, *values: str) -> Any:  # noqa: ANN401 - whatever was asked for
    row = connection.execute(statement, values or None).fetchone()
    return row[0] if row else None
