"""The table of a sink as it is in the database: whether it is there, its columns, and whether it is still the table that was filled.

A table that is dropped and made again has another oid. Rows are counted up to 100,000, so that the question stays cheap.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.amounts import many
from muntin.sinks import postgres_sql as sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg
    import pyarrow as pa

COUNTED = 100_000
"""Rows that are counted at most."""

_COLUMNS = (
    "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
    "WHERE a.attrelid = to_regclass(%s)::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)
_CONSTRAINED = (
    "SELECT a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) "
    "WHERE c.conrelid = to_regclass(%s)::oid AND c.conname = %s ORDER BY a.attnum"
)


@dataclass(frozen=True, slots=True)
class Target:
    """A table: its oid, its columns and their types as the catalog spells them, and its rows, `COUNTED` at most."""

    oid: int
    columns: Mapping[str, str]
    rows: int

    def noted(self, schema: pa.Schema) -> str:
        """The table as text for the ledger: the columns that are ours, each with its type and the type that the windows have."""
        columns = {field.name: [self.columns[field.name], sql.type_of(field.type)] for field in schema}
        return json.dumps({"oid": self.oid, "rows": self.rows, "columns": columns})


def given_types(noted: str) -> dict[str, str]:
    """The columns whose type was given by Muntin, and that type."""
    columns: dict[str, tuple[str, str]] = json.loads(noted or "{}").get("columns", {})
    return {name: there for name, (there, given) in columns.items() if there == given}


def found(connection: psycopg.Connection, table: str) -> Target | None:
    """The table that a name stands for now; None: there is none."""
    if (oid := oid_of(connection, sql.quoted(table))) is None:
        return None
    rows = _first(connection, f"SELECT count(*) FROM (SELECT 1 FROM {sql.quoted(table)} LIMIT {COUNTED}) counted")
    return Target(oid, types_of(connection, table), rows)


def types_of(connection: psycopg.Connection, table: str) -> dict[str, str]:
    """The columns of a table and their types."""
    return dict(connection.execute(_COLUMNS, [sql.quoted(table)]).fetchall())


def has_rows(connection: psycopg.Connection, table: str) -> bool:
    """Whether a table has a row."""
    return bool(_first(connection, f"SELECT EXISTS (SELECT 1 FROM {sql.quoted(table)})"))


def oid_of(connection: psycopg.Connection, name: str) -> int | None:
    """The oid of the table of a quoted name; None: there is none."""
    return _first(connection, "SELECT to_regclass(%s)::oid::bigint", name)


def constrained(connection: psycopg.Connection, table: str, constraint: str) -> str:
    """The columns of a constraint."""
    return ", ".join(name for (name,) in connection.execute(_CONSTRAINED, [sql.quoted(table), constraint]).fetchall())


def is_same(noted: str, now: Target) -> bool:
    """Whether a table is the one that was noted, whatever became of its rows and columns."""
    return bool(noted) and json.loads(noted)["oid"] == now.oid


def lost_since(noted: str, now: Target | None, table: str) -> str:
    """Why a table does not hold any more what it held when it was noted; "": it does, as far as its rows and columns tell."""
    if now is None:
        return f"table {table} was dropped"
    before: dict[str, Any] = json.loads(noted)
    if before["oid"] != now.oid:
        return f"table {table} was made again"
    for name, (kind, _) in before["columns"].items():
        if (there := now.columns.get(name)) != kind:
            return f"column {name} of table {table} was {kind}, and is {there or 'gone'}"
    return f"table {table} has {now.rows:,} of {many(before['rows'], 'row')}" if now.rows < before["rows"] else ""


def _first(connection: psycopg.Connection, statement: str, *values: str) -> Any:  # noqa: ANN401 - whatever was asked for
    row = connection.execute(statement, values or None).fetchone()
    return row[0] if row else None
