"""Where the address of a sink is: in the definition, without secrets; in an environment variable; or in a connection of Airflow.

No error of this module repeats an address: it may hold a password.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "env:"
CONNECTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
ENVIRONMENT = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, repr=False)
class Connection:
    """A connection as Airflow has it. `schema`: the name of a database. It has no repr, as it holds a password."""

    kind: str
    host: str | None = None
    port: int | None = None
    login: str | None = None
    password: str | None = None
    schema: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def connection_in(address: str) -> str | None:
    """The name of the connection that an address is; None: it is another kind of address."""
    return address if CONNECTION.fullmatch(address) else None


def variable(name: str) -> str:
    """The text of the environment variable that `env:NAME` names.

    Raises:
        SinkError: it is not set.
    """
    if not (text := os.environ.get(name.removeprefix(VARIABLE), "").strip()):
        raise SinkError(f"the environment has no {name.removeprefix(VARIABLE)}; set it to the address of the sink")
    return text


def of_environment(name: str) -> Connection:
    """The connection in `AIRFLOW_CONN_<NAME>`, as a URI or as JSON.

    Raises:
        SinkError: the variable is not set, or is no connection.
    """
    known = f"AIRFLOW_CONN_{name.upper()}"
    if not (text := os.environ.get(known, "").strip()):
        raise SinkError(f"the environment has no {known}; set it to the connection {name!r}, as Airflow has connections")
    try:
        return _of_json(text) if text.startswith("{") else _of_uri(text)
    except (ValueError, TypeError, AttributeError):
        raise SinkError(f"{known} is no connection, neither as JSON nor as a URI") from None


def _of_json(text: str) -> Connection:
    facts = json.loads(text)
    extra = facts.get("extra") or {}
    port = facts.get("port")
    return Connection(
        str(facts.get("conn_type")),
        facts.get("host"),
        int(port) if port else None,
        facts.get("login"),
        facts.get("password"),
        facts.get("schema"),
        json.loads(extra) if isinstance(extra, str) else extra,
    )


def _of_uri(text: str) -> Connection:
    """A connection as a URI; its extra is the query, or JSON in `__extra__`."""
    parts = urlsplit(text)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    extra = json.loads(query["__extra__"]) if "__extra__" in query else query
    plain = [None if text is None else unquote(text) for text in (parts.hostname, parts.username, parts.password)]
    return Connection(parts.scheme, plain[0], parts.port, plain[1], plain[2], unquote(parts.path.strip("/")) or None, extra)


def without(text: str, secrets: list[str]) -> str:
    """A text in one line, without secrets.

    >>> without("no user with geheim", ["geheim"])
    'no user with ***'
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return " ".join(text.split())[:300]
