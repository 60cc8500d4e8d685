"""Where the address of a sink is: in the definition, as a URL without secrets; in an environment variable; or
in a connection of Airflow.

No error of this module repeats an address: it may hold a password.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from muntin.errors import DefinitionError
from muntin.files.connections import CONNECTION, Connection, connection_of_environment, connection_of_uri
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sinks.delivery import Reach


VARIABLE = "env:"
ENVIRONMENT = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")

_OURS = re.compile(r"\s*muntin_(ledger|rows|[0-9a-f]{16}_(new|old))\s*", re.IGNORECASE)


def is_a_name(address: str) -> bool:
    """Whether an address is the name of a connection or of an environment variable."""
    return bool(CONNECTION.fullmatch(address) or ENVIRONMENT.fullmatch(address))


def check_not_ours(sink: str, table: str) -> None:
    """A name of a table that Muntin has no table of its own by: of the ledger, and of rows on their way.
    Letter case does not count.

    Raises:
        DefinitionError: it has.
    """
    if _OURS.fullmatch(table):
        raise DefinitionError(
            f"{sink}: {table!r} is the name of a table of Muntin's own, which all sinks share; give the table"
            " another name"
        )


def connection_in(address: str) -> str | None:
    """The name of the connection that an address is; None: it is another kind of address."""
    return address if CONNECTION.fullmatch(address) else None


def variable(name: str) -> str:
    """The text of the environment variable that `env:NAME` names.

    Raises:
        SinkError: it is not set.
    """
    if not (text := os.environ.get(name.removeprefix(VARIABLE), "").strip()):
        raise SinkError(
            f"the environment has no {name.removeprefix(VARIABLE)}; set it to the address of the sink"
        )
    return text


def of_environment(name: str) -> Connection:
    """The connection in `AIRFLOW_CONN_<NAME>`, as a URI or as JSON.

    Raises:
        SinkError: the variable is not set, or is no connection.
    """
    return connection_of_environment(
        name, SinkError, f"set it to the connection {name!r}, as Airflow has connections"
    )


_SECRETS = ("password", "passwd", "ssl_key_password")


def checked_address(sink: str, address: object, kinds: Sequence[str], example: str) -> str:
    """An address in a definition, or a name that stands for it.

    >>> checked_address("sinks.redis", "redis://cache:6379/0", ["redis"], "redis://cache:6379/0")
    'redis://cache:6379/0'

    Args:
        sink: how the user calls it.
        address: what the user gave.
        kinds: the schemes of such addresses.
        example: an address that would do.

    Raises:
        DefinitionError: it is neither, or holds a password.
    """
    if not isinstance(address, str) or not address.strip():
        raise DefinitionError(f'{sink}: give an address, as "{example}", or the name of a connection')
    text = address.strip()
    if CONNECTION.fullmatch(text) or ENVIRONMENT.fullmatch(text):
        return text
    connection = _parsed(text, kinds)
    if connection is None:
        raise DefinitionError(
            f'{sink}: the address is neither one as "{example}", nor "env:NAME", nor the name of a connection'
        )
    if connection.password or any(name in _SECRETS for name in parse_qs(text.partition("?")[2])):
        raise DefinitionError(
            f"{sink}: the address holds a password, which must not stand in code; put the address into an"
            " environment variable and "
            f'write {sink}("env:STORE", ...), or into an Airflow connection and write its name'
        )
    return text


def reached(address: str, reach: Reach, kinds: Sequence[str], example: str) -> Connection:
    """The host, the account and the settings that an address stands for.

    Raises:
        SinkError: the variable or the connection is missing, or is of another kind.
    """
    if CONNECTION.fullmatch(address):
        connection = reach.connection(address)
        if connection.kind not in kinds:
            raise SinkError(
                f"the connection {address!r} is of type {connection.kind}; make it one of type {kinds[0]}"
            )
        return connection
    named = address.startswith(VARIABLE)
    if (parsed := _parsed(variable(address) if named else address, kinds)) is None:
        raise SinkError(
            f"the address in {address if named else 'the definition'} is not one of this kind of server;"
            f" write {example}"
        )
    return parsed


def tls_settings(connection: Connection) -> dict[str, Any]:
    """The settings of TLS in an address, by the names of the client's arguments.

    In a URL all is text: true and false are meant as such.
    """
    spelled: dict[str, Any] = {"true": True, "false": False}
    return {
        name: spelled.get(str(value).lower(), value)
        for name, value in connection.extra.items()
        if name.startswith("ssl_")
    }


def _parsed(text: str, kinds: Sequence[str]) -> Connection | None:
    """The parts of a URL of one of these schemes, as `mysql` or `mysql+pymysql`; None: it is none."""
    try:
        connection = connection_of_uri(text)
    except ValueError:
        return None
    return connection if connection.host and connection.kind.partition("+")[0] in kinds else None
