"""The address of a PostgreSQL server, as psycopg takes it; and its text without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from muntin.files.connections import CONNECTION
from muntin.sinks.addresses import VARIABLE, variable
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from muntin.files.connections import Connection
    from muntin.sinks.delivery import Reach

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
        return _of_connection(address, reach.connection(address))
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


def _of_connection(name: str, connection: Connection) -> str:
    if connection.kind not in _KINDS:
        raise SinkError(f"the connection {name!r} is of type {connection.kind}; make it one of type postgres")
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


def _checked(words: str, place: str) -> str:
    """An address that psycopg understands. No error repeats it."""
    scheme, there, rest = words.removeprefix("jdbc:").partition("://")
    plain = f"{scheme.partition('+')[0]}://{rest}" if there else scheme
    try:
        conninfo_to_dict(plain)
    except ProgrammingError:
        raise SinkError(
            f"the address in {place} is not one of PostgreSQL; write postgresql://user@host:5432/database"
        ) from None
    return plain
