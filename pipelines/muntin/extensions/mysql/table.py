"""Send changes to MySQL: rows and the note of how far the table is, in one transaction. So each change
arrives exactly once.

MySQL ends a transaction at each statement that makes or alters a table. So a table is never altered: where
all windows are sent, they go into a new table, which takes the place of the old table in one statement.

Put rows into a table of MySQL so that each value is there as it was, or not at all: the server is the
judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pyarrow as pa

from muntin.extensions.mysql import sql
from muntin.extensions.mysql.sink import ID, MySqlSink
from muntin.sinks.delivery import Delivery, Position, sliced
from muntin.sinks.errors import (
    AllNeededError,
    BlockedError,
    MovedError,
    RefusedError,
    SinkError,
    plain_rows,
    widest,
)
from muntin.sinks.misfits import COUNTED, Fitted, Target, lost_since

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
                ((most,),) = self._ask("SELECT @@max_allowed_packet")
                if (size := len(statement.encode("utf-8", "surrogateescape"))) + _FRAME > most:
                    column = widest(plain_rows(rows.slice(0, 1))[0]) if len(rows) == 1 else ""
                    raise RefusedError(
                        f"{size:,} bytes, and the server takes {most:,} (max_allowed_packet)", column
                    )
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

    def _column(self, text: str, rows: pa.Table) -> str:
        match = _COLUMN.search(text)
        named = match.group(2) if match else ""
        return named if named in rows.column_names else ""

    def _ask(self, statement: str) -> Any:  # noqa: ANN401 - whatever was asked for
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()


CHUNK = 1_000
_LOCK_S = 5


@dataclass(frozen=True, slots=True)
class MySqlTable:
    """The table of a sink, reached. See `Opened`.

    Attributes:
        connection: of PyMySQL.
        sink: the declaration.
        pipeline: its name.
    """

    connection: Any
    sink: MySqlSink
    pipeline: str

    def position(self, noted: Position | None) -> Position | None:  # noqa: ARG002 - the database knows better
        ledger_position = self._noted()
        return (
            replace(
                ledger_position,
                lost=lost_since(ledger_position.target, self._found(self.sink.table), self.sink.table),
            )
            if ledger_position
            else None
        )

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        with self._locked():
            self._ask(sql.make_ledger())
            if self._noted() != delivery.since:
                raise MovedError
            schema = delivery.rows.drop_columns(["change"]).schema
            lives = f", rows live {self.sink.expires_us} us" if self.sink.expires_us else ""
            given = {
                ID: f"a digest of {', '.join(delivery.identity)}{lives}",
                **{each.name: sql.type_of(each.type) for each in schema},
            }
            there = self._found(self.sink.table)
            self._check(delivery, there, given)
            alive()
            if delivery.whole:
                new, old = (f"muntin_{self._id().hex()[:16]}_{which}" for which in ("new", "old"))
                self._ask(f"DROP TABLE IF EXISTS {new}, {old}")
                types = {name: kind for name, kind in given.items() if name != ID}
                self._ask(
                    sql.make_table(
                        new,
                        types,
                        [*dict.fromkeys([*delivery.identity, "window_start"])],
                        f"{self._mark()}{uuid4().hex}",
                    )
                )
                with self._transaction():
                    now = self._filled(delivery, new, given, alive, noted=False)
                name = sql.quoted(self.sink.table)
                self._ask(
                    f"RENAME TABLE {name} TO {old}, {new} TO {name}"
                    if there
                    else f"RENAME TABLE {new} TO {name}"
                )
                self._ask(f"DROP TABLE IF EXISTS {old}")
                self._note(now, len(delivery.rows))
                return now
            with self._transaction():
                return self._filled(delivery, self.sink.table, given, alive)

    def _filled(
        self,
        delivery: Delivery,
        table: str,
        given: Mapping[str, str],
        alive: Callable[[], None],
        *,
        noted: bool = True,
    ) -> Position:
        """Put the changes into a table, and note it; where the table is then."""
        fitted = Fitted(delivery, self.sink.on_unsupported, Rows(self.connection, table, delivery).put, alive)
        for rows in delivery.gone_and_there():
            for chunk in sliced(rows, CHUNK):
                fitted.put(chunk)
        if self.sink.expires_us:
            expired = f"window_end < UTC_TIMESTAMP(6) - INTERVAL {self.sink.expires_us} MICROSECOND"
            self._ask(f"DELETE FROM {sql.quoted(table)} WHERE {expired}")
        target = self._found(table)
        now = delivery.reached(target.noted(given) if target else "", fitted.misfits)
        if noted:
            self._note(now, len(delivery.rows))
        return now

    def _check(self, delivery: Delivery, there: Target | None, given: Mapping[str, str]) -> None:
        """Refuse a table of somebody else; `AllNeededError` where it is not as it was, or the windows have
        other columns.
        """
        if delivery.whole:
            if there and not str(there.oid).startswith(self._mark()) and not delivery.anew:
                raise BlockedError(
                    f"table {self.sink.table} was not made by Muntin for this window; remove it, name another"
                    " table, or let it be replaced: muntin status --sinks FILE --send --anew"
                )
            return
        before = delivery.since.target if delivery.since else ""
        if lost := lost_since(before, there, self.sink.table):
            raise AllNeededError(lost)
        had = {name: kind for name, (_, kind) in json.loads(before)["columns"].items()}
        if unlike := [name for name in {**had, **given} if had.get(name) != given.get(name)]:
            was, has = had.get(unlike[0], "not there"), given.get(unlike[0], "no such column")
            raise AllNeededError(f"column {unlike[0]} was {was}, and the windows have {has}")

    def _found(self, table: str) -> Target | None:
        """A table as it is now, identified by its comment; None: there is no such table."""
        where = "WHERE table_schema = DATABASE() AND table_name = %s"
        if not (comments := self._ask(f"SELECT table_comment FROM information_schema.tables {where}", table)):
            return None
        columns = self._ask(
            f"SELECT column_name, column_type FROM information_schema.columns {where} ORDER BY"
            " ordinal_position",
            table,
        )
        ((rows,),) = self._ask(
            f"SELECT COUNT(*) FROM (SELECT 1 FROM {sql.quoted(table)} LIMIT {COUNTED}) counted"
        )
        return Target(_text(comments[0][0]), {name: _text(kind) for name, kind in columns}, rows)

    def _noted(self) -> Position | None:
        if not self._ask(
            "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s",
            sql.LEDGER,
        ):
            return None
        rows = self._ask(f"SELECT position FROM {sql.LEDGER} WHERE {ID} = %s", self._id())
        return Position.of_json(rows[0][0]) if rows else None

    def _note(self, now: Position, rows: int) -> None:
        names = [self.pipeline, str(self.sink.window), self.sink.table]
        self._ask(
            f"REPLACE INTO {sql.LEDGER} ({ID}, pipeline, `window`, table_name, version, position, changes,"
            " sent_at) VALUES (%s, %s, %s, %s, %s, %s, %s, UTC_TIMESTAMP(6))",
            *(self._id(), *names, now.version, now.to_json(), rows),
        )

    def _id(self) -> bytes:
        return sql.digest(self.pipeline, str(self.sink.window), self.sink.table)

    def _mark(self) -> str:
        """The beginning of the comment of each table that was made for this window."""
        return f"muntin {self._id().hex()[:16]} "

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other run send to this table. The server lets go when this run ends."""
        ((name,),) = self._ask(
            "SELECT LEFT(SHA2(CONCAT('muntin ', DATABASE(), '.', %s), 256), 60)", self.sink.table
        )
        if self._ask("SELECT GET_LOCK(%s, %s)", name, _LOCK_S) != ((1,),):
            raise SinkError(f"another run sends to table {self.sink.table}; the next run looks again")
        yield
        self._ask("SELECT RELEASE_LOCK(%s)", name)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing: a connection that is closed before the end takes it back."""
        self.connection.begin()
        yield
        self.connection.commit()

    def _ask(self, statement: str, *values: object) -> tuple[tuple[Any, ...], ...]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return tuple(cursor.fetchall())


def _text(text_or_bytes: Any) -> str:  # noqa: ANN401 - MySQL 8 has some texts of its catalog as bytes
    return text_or_bytes.decode() if isinstance(text_or_bytes, bytes) else str(text_or_bytes)
