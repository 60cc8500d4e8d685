"""Put rows into a table of PostgreSQL so that each value is there as it was, or not at all.

Rows are copied into a temporary table with the types of the windows, and from there into the table. Where a
column of the table has another type, the database says whether a value would come out of it as another: then
the column is altered.

Rows as PostgreSQL copies them in: a line a row, tabs between values
(https://www.postgresql.org/docs/current/sql-copy.html).
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
import pyarrow as pa
import pyarrow.compute as pc

from muntin.extensions.postgres import sql
from muntin.extensions.postgres.sql import constrained, given_types, has_rows, types_of
from muntin.sinks.delivery import Delivery
from muntin.sinks.errors import AllNeededError, BlockedError, RefusedError, as_json, is_bytes, plain_rows

_NULL = "\\N"
_ESCAPED = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))


def copy_text(rows: pa.Table) -> bytes:
    r"""Rows as text for `COPY ... FROM STDIN`.

    A value in a list or a struct that Python does not know, as the year 12345, is refused.

    >>> copy_text(pa.table({"k": ["a\tb", None, ""], "x": [0.1, float("nan"), None]}))
    b'a\\tb\t0.1\n\\N\tnan\n\t\\N\n'
    """
    if not len(rows):
        return b""
    columns = [_of(rows, name) for name in rows.column_names]
    lines = pc.binary_join_element_wise(*columns, "\t", null_handling="replace", null_replacement=_NULL)
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _of(rows: pa.Table, name: str) -> pa.Array:
    try:
        column = rows[name].combine_chunks()
        kind = column.type
        if is_bytes(kind):
            return pa.array(
                [None if value is None else f"\\\\x{value.hex()}" for value in column.to_pylist()],
                pa.string(),
            )
        if pa.types.is_nested(kind):
            values = column.to_pylist()
            return _escaped(
                pa.array([None if value is None else as_json(value) for value in values], pa.string())
            )
        if pa.types.is_duration(kind):
            micros = column.cast(pa.duration("us")).cast(pa.int64()).cast(pa.string())
            return pc.binary_join_element_wise(micros, pa.scalar("us"), " ")
        texts = column.cast(pa.string())
        return _escaped(texts) if pa.types.is_string(kind) or pa.types.is_large_string(kind) else texts
    except (OverflowError, ValueError) as wrong:
        raise RefusedError(str(wrong), name) from None


def _escaped(texts: pa.Array) -> pa.Array:
    for plain, escaped in _ESCAPED:
        texts = pc.replace_substring(texts, plain, escaped)
    return texts


_OF_DATA = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,  # as of a key that is too long for an index
    psycopg.errors.RaiseException,
    psycopg.errors.WithCheckOptionViolation,
)
_NO_CAST = (psycopg.errors.CannotCoerce, psycopg.errors.UndefinedFunction)


@dataclass(frozen=True, slots=True)
class Rows:
    """The way of a delivery's rows into a table, inside its transaction."""

    connection: psycopg.Connection
    table: str
    delivery: Delivery

    def put(self, rows: pa.Table) -> None:
        """Insert, update and delete rows, as their `change` says: all of them, or none.

        Where a column would lose a value, an `AllNeededError` if all windows are needed to alter it; a
        `BlockedError` if it cannot be altered.
        """
        try:
            with self.connection.transaction():
                self._stage(rows)
                schema = rows.drop_columns(["change"]).schema
                there = types_of(self.connection, self.table)
                given = given_types(self.delivery.since.target) if self.delivery.since else {}
                wanted = {field.name: sql.type_of(field.type) for field in schema}
                unlike = {name: kind for name, kind in wanted.items() if there[name] != kind}
                altered = {
                    name: kind
                    for name, kind in unlike.items()
                    if given.get(name) == there[name] or self._loses(name, kind, there[name])
                }
                if altered and not self.delivery.may_alter:
                    raise AllNeededError(
                        "; ".join(
                            f"column {name} was {there[name]}, and the windows have {kind}"
                            for name, kind in altered.items()
                        )
                    )
                for name, kind in altered.items():
                    self._alter(name, there[name], kind)
                types = {name: altered.get(name, there[name]) for name in wanted}
                if rows["change"][0].as_py() == "gone":
                    self.connection.execute(sql.delete(self.table, types, self.delivery.identity))
                else:
                    self.connection.execute(
                        sql.upsert(self.table, types, self.delivery.identity, latest=self.delivery.latest)
                    )
        except _OF_DATA as wrong:
            raise RefusedError(str(wrong).partition("\n")[0], self._column(wrong, rows)) from None

    def _stage(self, rows: pa.Table) -> None:
        self.connection.execute(f"TRUNCATE {sql.ROWS}")
        with self.connection.cursor() as cursor, cursor.copy(sql.copy_rows(rows.column_names)) as copy:
            copy.write(copy_text(rows))

    def _loses(self, name: str, kind: str, there: str) -> bool:
        """Whether a column of the type `there` would lose a value of the temporary table."""
        try:
            with self.connection.transaction():
                row = self.connection.execute(sql.loses(name, kind, there)).fetchone()
        except (psycopg.DataError, *_NO_CAST):
            return True
        return bool(row and row[0])

    def _alter(self, name: str, there: str, kind: str) -> None:
        """Give a column the type of the windows.

        Rows that it has come of this delivery, and go into both types.
        """
        try:
            self.connection.execute(
                sql.alter_column(self.table, name, kind, empty=not has_rows(self.connection, self.table))
            )
        except psycopg.OperationalError:
            raise
        except psycopg.Error as wrong:
            raise BlockedError(
                f"column {name} of table {self.table} is {there}, the windows have {kind}, values would be"
                f" lost, and it cannot be altered ({str(wrong).partition(chr(10))[0]}); alter it, or name"
                " another table"
            ) from None

    def _column(self, wrong: psycopg.Error, rows: pa.Table) -> str:
        """The column whose value the server refuses; "": it does not say."""
        if len(rows) > 1:
            return ""
        if isinstance(wrong, psycopg.errors.ProgramLimitExceeded):
            (key,) = plain_rows(rows.select(list(self.delivery.identity)))
            return max(key, key=lambda name: len(as_json(key[name])))
        if wrong.diag.column_name:
            return wrong.diag.column_name
        if wrong.diag.constraint_name:
            return constrained(self.connection, self.table, wrong.diag.constraint_name)
        return next((name for name in rows.column_names if not self._is_taken(rows.select([name]))), "")

    def _is_taken(self, rows: pa.Table) -> bool:
        """Whether the temporary table takes some columns."""
        try:
            with self.connection.transaction():
                self._stage(rows)
        except _OF_DATA:
            return False
        return True
