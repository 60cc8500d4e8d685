"""A table of MySQL or MariaDB as a definition declares it, and the way to its server."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import Duration, positive
from muntin.definition.extras import need
from muntin.errors import DefinitionError
from muntin.files.connections import without
from muntin.sinks.addresses import check_not_ours, checked_address, reached, tls_settings
from muntin.sinks.declaration import Declared, OnUnsupported, choice_of
from muntin.sinks.errors import BlockedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from muntin.extensions.mysql.table import MySqlTable
    from muntin.files.connections import Connection
    from muntin.sinks.delivery import Opened, Reach

KINDS = ("mysql", "mariadb", "jdbc:mysql")
EXAMPLE = "mysql://muntin@db.example:3306/warehouse"
LONGEST_NAME = 64
MOST_COLUMNS = 1000
"""A table of InnoDB has 1,017; one of them is `muntin_id`."""
ID = "muntin_id"
ANSWER_S = 60
CONNECT_S = 5
_TABLE = re.compile(r"[^.`\"\0]+")
_SESSION = (
    "SET SESSION sql_mode ="
    " 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',"
    " time_zone = '+00:00', lock_wait_timeout = 5, innodb_lock_wait_timeout = 5"
)
_HELD = (1205, 1213)
_PASSES = (1040, 1045, 1049, 1053, 1158, 1159, 1160, 1161, 1203, 1226, 1290, 1317, 1836, 1927, 3024)
"""Codes of errors of the server that the next run may not meet: too many connections, a shutdown, a server
that takes no writes.
"""
_FIRST_OF_CLIENT, _LAST_OF_CLIENT = 2000, 2100


@dataclass(frozen=True, slots=True)
class MySqlSink(Declared):
    """A table of MySQL or MariaDB; `mysql` makes it."""

    address: str
    table: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"
    latest: bool = False
    expires_us: int | None = None

    package = "pymysql"

    @property
    def name(self) -> str:
        return f"table {self.table} at {self.address}"

    def check_columns(self, names: Sequence[str]) -> None:
        for name in names:
            if len(name) > LONGEST_NAME or name != name.rstrip() or "\0" in name or name.lower() == ID:
                raise DefinitionError(
                    f"to: the {self.name}: MySQL can have no column {name!r}; give the key or result another"
                    " name"
                )
        if len(names) > MOST_COLUMNS:
            raise DefinitionError(
                f"to: the {self.name}: MySQL has {MOST_COLUMNS:,} columns at most, and these are"
                f" {len(names):,}"
            )

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        return _opened(self, pipeline, reach)


def mysql(
    address: str,
    *,
    table: str,
    window: str | None = None,
    on_unsupported: OnUnsupported = "quarantine",
    latest: bool = False,
    expires: Duration | None = None,
) -> MySqlSink:
    """A table of MySQL or MariaDB that holds a window's results, exactly once.

    >>> mysql("warehouse", table="flights_day", window="day").name
    'table flights_day at warehouse'

    Args:
        address: the name of an Airflow connection of type mysql; `env:NAME`, an environment variable that
            holds an address; or an address without a secret, as "mysql://muntin@db.example:3306/warehouse".
        table: its name in the database of the address. It is made, and made again where the types of results
            change.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window with a value that the server refuses, as NaN. "quarantine":
            it is left out, and `muntin status --sinks` names it; "replace": the value is null there, but a
            key is never another; "stop": nothing is sent until the value is mended.
        latest: whether the table keeps one row for each key, of the newest window that is closed, for
            services that ask by key.
        expires: how long after its window's end a row is removed, by the next delivery; None: it stays.

    Raises:
        DefinitionError: an address with a password, or of something else; a name or a duration that cannot
            be.
    """
    if (
        not isinstance(table, str)
        or not _TABLE.fullmatch(table)
        or len(table) > LONGEST_NAME
        or table != table.strip()
    ):
        raise DefinitionError(
            f'sinks.mysql: {table!r} is not the name of a table; write "flights_day", and the database into'
            " the address"
        )
    check_not_ours("sinks.mysql", table)
    where = checked_address("sinks.mysql", address, KINDS, EXAMPLE)
    lives = None if expires is None else positive(expires, "sinks.mysql: expires")
    return MySqlSink(where, table, window, choice_of(on_unsupported, "sinks.mysql"), latest, lives)


@contextmanager
def _opened(sink: MySqlSink, pipeline: str, reach: Reach) -> Iterator[MySqlTable]:
    need("pymysql")
    import pymysql

    from muntin.extensions.mysql.table import MySqlTable

    server = reached(sink.address, reach, KINDS, EXAMPLE)
    place = f"{server.host}:{server.port or 3306}/{server.schema or ''}"
    if not server.schema:
        raise SinkError(f"{place}: the address names no database; write {EXAMPLE}")
    try:
        with pymysql.connect(**_settings(server)) as connection:
            yield MySqlTable(connection, sink, pipeline)
    except pymysql.MySQLError as wrong:
        code, text = wrong.args[0], without(str(wrong.args[-1]), [str(server.password or "")])
        if code in _HELD:
            raise SinkError(
                f"{place}: another run or program holds table {sink.table}; the next run looks again"
            ) from None
        if not code or code in _PASSES or _FIRST_OF_CLIENT <= code < _LAST_OF_CLIENT:
            raise SinkError(
                f"{place}: {text}; see that the server is up and that the address is right"
            ) from None
        raise BlockedError(f"{place}: {text}; mend the table or the rights, or name another table") from None


def _settings(server: Connection) -> dict[str, Any]:
    """The settings of PyMySQL.

    Values go and come as UTF-8, instants by UTC, and a value that does not fit is an error.
    """
    return {
        "host": server.host,
        "port": server.port or 3306,
        "user": server.login,
        "password": server.password or "",
        "database": server.schema,
        "charset": "utf8mb4",
        "autocommit": True,
        "init_command": _SESSION,
        "connect_timeout": CONNECT_S,
        "read_timeout": ANSWER_S,
        "write_timeout": ANSWER_S,
        **tls_settings(server),
    }
