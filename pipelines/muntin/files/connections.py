"""Connections of Airflow in the environment, as a URI or as JSON.

No error of this module repeats a text: it may hold a password.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CONNECTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True, repr=False)
class Connection:
    """A connection as Airflow has it.

    `schema`: the name of a database. It has no repr, as it holds a password.
    """

    kind: str
    host: str | None = None
    port: int | None = None
    login: str | None = None
    password: str | None = None
    schema: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def variable_of(name: str) -> str:
    """The name of the environment variable that holds a connection."""
    return f"AIRFLOW_CONN_{name.upper()}"


def connection_of_environment(name: str, error: type[Exception], mend: str) -> Connection:
    """The connection in `AIRFLOW_CONN_<NAME>`. `mend`: what to do where the variable is not set."""
    if not (text := os.environ.get(variable_of(name), "").strip()):
        raise error(f"the environment has no {variable_of(name)}; {mend}")
    try:
        return _of_json(text) if text.startswith("{") else connection_of_uri(text)
    except (ValueError, TypeError, AttributeError):
        raise error(f"{variable_of(name)} is no connection, neither as JSON nor as a URI") from None


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
        dict(json.loads(extra) if isinstance(extra, str) else extra),
    )


def connection_of_uri(text: str) -> Connection:
    """A connection as a URI; its extra is the query, or JSON in `__extra__`.

    ValueError: the text is no such URI.
    """
    parts = urlsplit(text)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    extra = json.loads(query["__extra__"]) if "__extra__" in query else query
    plain = [
        None if text is None else unquote(text) for text in (parts.hostname, parts.username, parts.password)
    ]
    return Connection(
        parts.scheme,
        plain[0],
        parts.port,
        plain[1],
        plain[2],
        unquote(parts.path.strip("/")) or None,
        dict(extra),
    )


def without(text: str, secrets: list[str]) -> str:
    """A text in one line, without secrets.

    >>> without("no user with geheim", ["geheim"])
    'no user with ***'
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return " ".join(text.split())[:300]
