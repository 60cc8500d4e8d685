"""Where the address of a sink is: in the definition, without secrets; in an environment variable; or in a
connection of Airflow.

No error of this module repeats an address: it may hold a password.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError
from muntin.files.connections import CONNECTION, connection_of_environment
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from muntin.files.connections import Connection

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
