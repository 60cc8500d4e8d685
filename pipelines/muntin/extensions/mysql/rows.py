"""Put rows into a table of MySQL so that each value is there as it was, or not at all: the server is the
judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.extensions.mysql import sql
from muntin.sinks.errors import RefusedError, plain_rows, widest

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.sinks.delivery import Delivery

_OF_DATA = (
    1048,
    1062,
    1118,
    1153,
    1264,
    1265,
    1292,
    1364,
    1366,
    1367,
    1406,
    1411,
    1452,
    1644,
    1690,
    3140,
    3141,
    3819,
    4025,
)
"""Codes of errors that a value is to blame for; https://mariadb.com/kb/en/mariadb-error-codes."""
_COLUMN = re.compile(
    r"(?:column|CONSTRAINT) (?:`[^`]*`\.`[^`]*`\.)?[`']((?:[^`'.]+\.)?)([^`']+)[`']", re.IGNORECASE
)
_FRAME = 1024
"""Bytes of a packet that are no statement, with some to spare."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The way of a delivery's rows into a table, inside its transaction."""

    connection: Any
    table: str
    delivery: Delivery

    def put(self, rows: pa.Table) -> None:
        """Insert, update and delete rows, as their `change` says: all of them, or none, as they are one
        statement.

        A `RefusedError` if the server refuses a value.
        """
        import pymysql

        try:
            with self.connection.cursor() as cursor:
                statement = cursor.mogrify(*self._statement(rows))
                self._check_size(statement, rows)
                cursor.execute(statement)
        except pymysql.MySQLError as wrong:
            if wrong.args[0] not in _OF_DATA:
                raise
            raise RefusedError(str(wrong.args[-1]), self._column(str(wrong.args[-1]), rows)) from None

    def _statement(self, rows: pa.Table) -> tuple[str, list[Any]]:
        identity = list(self.delivery.identity)
        ids = [sql.digest(*(row[name] for name in identity)) for row in plain_rows(rows.select(identity))]
        if rows["change"][0].as_py() == "gone":
            return sql.delete(self.table, len(ids)), ids
        names = [name for name in rows.column_names if name != "change"]
        columns = [ids, *(sql.values_of(rows, name) for name in names)]
        latest = self.delivery.latest and not self.delivery.whole
        values = [value for row in zip(*columns, strict=True) for value in row]
        return sql.upsert(self.table, names, len(ids), latest=latest), values

    def _check_size(self, statement: str, rows: pa.Table) -> None:
        """A server that gets a larger packet than it takes closes the connection."""
        ((most,),) = self._ask("SELECT @@max_allowed_packet")
        if (size := len(statement.encode("utf-8", "surrogateescape"))) + _FRAME > most:
            column = widest(plain_rows(rows.slice(0, 1))[0]) if len(rows) == 1 else ""
            raise RefusedError(f"{size:,} bytes, and the server takes {most:,} (max_allowed_packet)", column)

    def _column(self, text: str, rows: pa.Table) -> str:
        match = _COLUMN.search(text)
        named = match.group(2) if match else ""
        return named if named in rows.column_names else ""

    def _ask(self, statement: str) -> Any:  # noqa: ANN401 - whatever was asked for
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()
