"""Send changes to PostgreSQL: rows and the note of how far the table is, in one transaction.

So each change arrives exactly once.

The address of a PostgreSQL server, as psycopg takes it; and its text without secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from muntin.extensions.postgres import sql
from muntin.extensions.postgres.rows import Rows
from muntin.extensions.postgres.sink import PostgresSink
from muntin.extensions.postgres.sql import found, oid_of
from muntin.files.connections import CONNECTION, without
from muntin.sinks.addresses import VARIABLE, variable
from muntin.sinks.declaration import OnUnsupported
from muntin.sinks.delivery import Delivery, Position, Reach, sliced
from muntin.sinks.errors import AllNeededError, BlockedError, MovedError, SinkError
from muntin.sinks.misfits import Fitted, is_same, lost_since

_KINDS = ("postgres", "postgresql", "jdbc")
_PASSED_ON = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "options",
    "target_session_attrs",
    "keepalives_idle",
)


def conninfo(address: str, reach: Reach) -> str:
    """The words that psycopg connects by."""
    if address.startswith(VARIABLE):
        return _checked(variable(address), address)
    if CONNECTION.fullmatch(address):
        connection = reach.connection(address)
        if connection.kind not in _KINDS:
            raise SinkError(
                f"the connection {address!r} is of type {connection.kind}; make it one of type postgres"
            )
        facts = {
            "host": connection.host,
            "port": connection.port,
            "user": connection.login,
            "password": connection.password,
            "dbname": connection.schema,
        }
        more = {key: connection.extra[key] for key in _PASSED_ON if key in connection.extra}
        return make_conninfo(
            "", **{key: value for key, value in {**facts, **more}.items() if value not in (None, "")}
        )
    return _checked(address, "the definition")


def secrets_of(words: str) -> list[str]:
    """The secrets of an address, which no text may repeat."""
    facts = conninfo_to_dict(words)
    return [str(facts[name]) for name in ("password", "sslpassword") if facts.get(name)]


def reported(words: str) -> str:
    """The place of the server, for people.

    >>> reported("postgresql://muntin:geheim@db.example/warehouse")
    'db.example/warehouse'
    """
    facts = conninfo_to_dict(words)
    port = f":{facts['port']}" if facts.get("port") else ""
    return f"{facts.get('host') or 'localhost'}{port}/{facts.get('dbname') or ''}"


def _checked(words: str, place: str) -> str:
    """An address that psycopg understands. No error repeats it."""
    scheme, there, rest = words.removeprefix("jdbc:").partition("://")
    plain = f"{scheme.partition('+')[0]}://{rest}" if there else scheme
    try:
        conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        raise SinkError(
            f"the address in {place} is not one of PostgreSQL; write postgresql://user@host:5432/database"
        ) from None
    return plain


CONNECT_S = 5
CHUNK = 5_000
_NOWHERE = Position("", -1)


@contextmanager
def opened(sink: PostgresSink, pipeline: str, reach: Reach) -> Iterator[PostgresTable]:
    """A connection to the server of a sink."""
    words = conninfo(sink.address, reach)
    secrets, place = secrets_of(words), reported(words)
    settings: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "application_name": "muntin",
        "tcp_user_timeout": 1000 * CONNECT_S,
    }
    try:
        with psycopg.connect(words, autocommit=True, prepare_threshold=None, **settings) as connection:
            yield PostgresTable(connection, sink.table, pipeline, str(sink.window), sink.on_unsupported)
    except psycopg.errors.LockNotAvailable:
        raise SinkError(
            f"{place}: another run or program holds table {sink.table}; the next run looks again"
        ) from None
    except psycopg.Error as wrong:
        first = without(str(wrong).partition("\n")[0], secrets)
        if isinstance(wrong, psycopg.OperationalError):
            raise SinkError(
                f"{place}: {first}; see that the server is up and that the address is right"
            ) from None
        raise BlockedError(f"{place}: {first}; mend the table or the rights, or name another table") from None


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """The table of a sink, reached. See `Opened`."""

    connection: psycopg.Connection
    table: str
    pipeline: str
    window: str
    on_unsupported: OnUnsupported

    def position(self, noted: Position | None) -> Position | None:  # noqa: ARG002 - the database knows better
        with self.connection.transaction():
            self.connection.execute(sql.SETTINGS)
            there = oid_of(self.connection, sql.ledger_of(self.table)) is not None
            if not there or (ledger_position := self._noted(lock=False)) is None:
                return None
            return replace(
                ledger_position,
                lost=lost_since(ledger_position.target, found(self.connection, self.table), self.table),
            )

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        with self.connection.transaction():
            self.connection.execute(sql.SETTINGS)
            self._lock(delivery)
            schema = delivery.rows.drop_columns(["change"]).schema
            there = found(self.connection, self.table)
            if (
                not delivery.whole
                and delivery.since
                and (lost := lost_since(delivery.since.target, there, self.table))
            ):
                raise AllNeededError(lost)
            if there is None:
                self.connection.execute(sql.make_table(self.table, schema, delivery.identity))
            elif delivery.whole:
                ours = delivery.since is not None and is_same(delivery.since.target, there)
                if there.rows and not ours and not delivery.anew:
                    raise BlockedError(
                        f"table {self.table} has rows that Muntin did not write; empty it, name another"
                        " table, or let it be replaced: muntin status --sinks FILE --send --anew"
                    )
                self.connection.execute(f"DELETE FROM {sql.quoted(self.table)}")
            for field in schema:
                if there and field.name not in there.columns:
                    self.connection.execute(sql.add_column(self.table, field))
            alive()
            self.connection.execute(sql.make_rows(delivery.rows.schema))
            fitted = Fitted(
                delivery, self.on_unsupported, Rows(self.connection, self.table, delivery).put, alive
            )
            for rows in delivery.gone_and_there():
                for chunk in sliced(rows, CHUNK):
                    fitted.put(chunk)
            now = delivery.reached(self._now(delivery), fitted.misfits)
            self._note(now, len(delivery.rows))
        return now

    def _lock(self, delivery: Delivery) -> None:
        """Let no other run send, and see that none did since the missing changes were worked out."""
        ledger = sql.ledger_of(self.table)
        if oid_of(self.connection, ledger) is None:
            self.connection.execute("SELECT pg_advisory_xact_lock(hashtext('muntin_ledger'))")
            self.connection.execute(sql.make_ledger(ledger))
        begin = f"INSERT INTO {ledger} VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
        self.connection.execute(begin, [*self._row, *_facts(_NOWHERE)])
        if self._noted(lock=True) != delivery.since:
            raise MovedError

    def _now(self, delivery: Delivery) -> str:
        there = found(self.connection, self.table)
        schema = delivery.rows.drop_columns(["change"]).schema
        return there.noted({field.name: sql.type_of(field.type) for field in schema}) if there else ""

    def _note(self, now: Position, rows: int) -> None:
        assignments = (
            "state = %s, version = %s, mark = %s, target = %s, misfits = %s, rows = %s, sent_at = now()"
        )
        ledger = sql.ledger_of(self.table)
        self.connection.execute(
            f'UPDATE {ledger} SET {assignments} WHERE pipeline = %s AND "window" = %s AND table_name = %s',
            [*_facts(now), rows, *self._row],
        )

    @property
    def _row(self) -> list[str]:
        return [self.pipeline, self.window, self.table]

    def _noted(self, *, lock: bool) -> Position | None:
        ledger = sql.ledger_of(self.table)
        where = (
            f'SELECT state, version, mark, target, misfits FROM {ledger} WHERE pipeline = %s AND "window" ='
            " %s AND table_name = %s"
        )
        row = self.connection.execute(where + (" FOR UPDATE" if lock else ""), self._row).fetchone()
        position = Position.of_json(json.dumps([*row[:-1], json.loads(row[-1])])) if row else _NOWHERE
        return None if position == _NOWHERE else position


def _facts(position: Position) -> list[object]:
    *plain, misfits = json.loads(position.to_json())
    return [*plain, json.dumps(misfits)]
