"""Send changes to PostgreSQL: rows and the note of how far the table is, in one transaction. So each change arrives exactly once."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.extras import need
from muntin.sinks import postgres_sql as sql
from muntin.sinks.addresses import without
from muntin.sinks.copy_text import copy_text
from muntin.sinks.delivery import Position
from muntin.sinks.errors import MovedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import psycopg

    from muntin.sinks.declaration import JdbcSink
    from muntin.sinks.delivery import Delivery, Reach

CONNECT_S = 5
CHUNK = 5_000
_NOWHERE = Position("", -1)


@contextmanager
def opened(sink: JdbcSink, pipeline: str, reach: Reach) -> Iterator[PostgresTable]:
    """A connection to the server of a sink.

    Raises:
        SinkError: no address, no server, or the server refused what was sent.
        MissingPackageError: psycopg is not installed.
    """
    need("psycopg")
    import psycopg

    from muntin.sinks.postgres_address import conninfo, reported, secrets_of

    words = conninfo(sink.address, reach)
    secrets, place = secrets_of(words), reported(words)
    settings: dict[str, Any] = {"connect_timeout": CONNECT_S, "application_name": "muntin", "tcp_user_timeout": 1000 * CONNECT_S}
    try:
        with psycopg.connect(words, autocommit=True, prepare_threshold=None, **settings) as connection:
            yield PostgresTable(connection, sink.table, pipeline, str(sink.window))
    except psycopg.errors.LockNotAvailable:
        raise SinkError(f"{place}: another run or program holds table {sink.table}; the next run looks again") from None
    except psycopg.Error as wrong:
        down = isinstance(wrong, psycopg.OperationalError)
        first = str(wrong).partition("\n")[0]
        mend = "see that the server is up and that the address is right" if down else "mend the table or the rights, or name another table"
        raise SinkError(f"{place}: {without(first, secrets)}; {mend}") from None


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """The table of a sink, reached. See `Opened`."""

    connection: psycopg.Connection
    table: str
    pipeline: str
    window: str

    def position(self, noted: Position | None) -> Position | None:  # noqa: ARG002 - the database knows better
        if not self._exists(sql.ledger_of(self.table)):
            return None
        return self._noted(lock=False)

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> None:
        with self.connection.transaction():
            self.connection.execute(sql.SETTINGS)
            self._lock(delivery)
            names = self._prepare(delivery)
            alive()
            gone = pc.equal(delivery.rows["change"], "gone")
            identity = delivery.identity
            self._through(delivery.rows.filter(gone), identity, sql.delete(self.table, identity), alive)
            rows = delivery.rows.drop_columns(["change"]).filter(pc.invert(gone))
            self._through(rows, names, sql.upsert(self.table, names, identity), alive)
            self._note(delivery)

    def _lock(self, delivery: Delivery) -> None:
        """Let no other run send, and see that none did since it was worked out what lacks."""
        ledger = sql.ledger_of(self.table)
        if not self._exists(ledger):
            self.connection.execute("SELECT pg_advisory_xact_lock(hashtext('muntin_ledger'))")
            self.connection.execute(sql.make_ledger(ledger))
        begin = f"INSERT INTO {ledger} VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
        self.connection.execute(begin, [*self._row, _NOWHERE.table, _NOWHERE.version, _NOWHERE.mark])
        if self._noted(lock=True) != delivery.since:
            raise MovedError

    def _prepare(self, delivery: Delivery) -> list[str]:
        """Make the table, or see that it can be used; the names of the columns to write."""
        schema = pa.schema([field for field in delivery.rows.schema if field.name != "change"])
        if not self._exists(sql.quoted(self.table)):
            self.connection.execute(sql.make_table(self.table, schema, delivery.identity))
        elif delivery.since is None and not delivery.anew and self._has_rows():
            raise SinkError(
                f"table {self.table} has rows that Muntin did not write; empty it, name another table, or let it be replaced: "
                "muntin sinks FILE --send --anew"
            )
        elif delivery.whole:
            self.connection.execute(f"DELETE FROM {sql.quoted(self.table)}")
        there = {column.name for column in self.connection.execute(f"SELECT * FROM {sql.quoted(self.table)} LIMIT 0").description or ()}
        for field in schema:
            if field.name not in there:
                self.connection.execute(sql.add_column(self.table, field))
        return schema.names

    def _through(self, rows: pa.Table, names: Sequence[str], statement: str, alive: Callable[[], None]) -> None:
        """Copy rows from the temporary table into the target table, some at a time."""
        if not len(rows):
            return
        self.connection.execute(f"DROP TABLE IF EXISTS {sql.ROWS}")
        self.connection.execute(sql.make_rows(self.table, names))
        plain = rows.select(list(names))
        for first in range(0, len(plain), CHUNK):
            chunk = plain.slice(first, CHUNK)
            with self.connection.cursor() as cursor, cursor.copy(sql.copy_rows(names)) as copy:
                copy.write(copy_text(chunk))
            self.connection.execute(statement)
            self.connection.execute(f"TRUNCATE {sql.ROWS}")
            alive()

    def _note(self, delivery: Delivery) -> None:
        now = delivery.until
        told = "state = %s, version = %s, mark = %s, rows = %s, sent_at = now()"
        ledger = sql.ledger_of(self.table)
        self.connection.execute(
            f'UPDATE {ledger} SET {told} WHERE pipeline = %s AND "window" = %s AND table_name = %s',
            [now.table, now.version, now.mark, len(delivery.rows), *self._row],
        )

    @property
    def _row(self) -> list[str]:
        return [self.pipeline, self.window, self.table]

    def _noted(self, *, lock: bool) -> Position | None:
        ledger = sql.ledger_of(self.table)
        where = f'SELECT state, version, mark FROM {ledger} WHERE pipeline = %s AND "window" = %s AND table_name = %s'
        found = self.connection.execute(where + (" FOR UPDATE" if lock else ""), self._row).fetchone()
        position = Position(*found) if found else _NOWHERE
        return None if position == _NOWHERE else position

    def _exists(self, name: str) -> bool:
        found = self.connection.execute("SELECT to_regclass(%s)", [name]).fetchone()
        return found is not None and found[0] is not None

    def _has_rows(self) -> bool:
        found = self.connection.execute(f"SELECT EXISTS (SELECT 1 FROM {sql.quoted(self.table)})").fetchone()
        return bool(found and found[0])
