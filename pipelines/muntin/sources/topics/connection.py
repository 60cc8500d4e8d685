"""The settings of a connection: in the environment, as Airflow has connections. No error of this module repeats a value.

A connection of type kafka has settings of librdkafka in its extra: https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from muntin.errors import BrokerError

if TYPE_CHECKING:
    from collections.abc import Mapping

REGISTRY = "registry."
"""Begins the names of settings that are for the schema registry."""


def variable(connection: str) -> str:
    """The name of the variable with a connection."""
    return f"AIRFLOW_CONN_{connection.upper()}"


def settings(connection: str | None) -> dict[str, str]:
    """Name -> value of the settings of a connection; none without one.

    Raises:
        BrokerError: the environment has no such connection, or it cannot be read.
    """
    if connection is None:
        return {}
    text = os.environ.get(variable(connection), "").strip()
    if not text:
        raise BrokerError(
            f"the environment has no {variable(connection)}, which connection={connection!r} names; set it to a connection of type "
            f'kafka, as {{"conn_type": "kafka", "login": "...", "password": "...", "extra": {{"security.protocol": "SASL_SSL"}}}}'
        )
    try:
        return of_parts(*(_of_json(text) if text.startswith("{") else _of_uri(text)))
    except (ValueError, AttributeError, TypeError):
        raise BrokerError(f"{variable(connection)} cannot be read as a connection, neither as JSON nor as a URI") from None


def of_parts(login: str | None, password: str | None, extra: Mapping[str, Any]) -> dict[str, str]:
    """The settings that a connection stands for.

    >>> of_parts("me", "secret", {"security.protocol": "SASL_SSL"})
    {'security.protocol': 'SASL_SSL', 'sasl.username': 'me', 'sasl.password': 'secret', 'sasl.mechanism': 'PLAIN'}
    """
    found = {str(name): _text(value) for name, value in extra.items()}
    if login and password:
        theirs = {"sasl.username": login, "sasl.password": password}
        found = {**found, **theirs}
        if not {"sasl.mechanism", "sasl.mechanisms"} & set(found):
            found["sasl.mechanism"] = "PLAIN"
        found.setdefault("security.protocol", "SASL_SSL")
    return found


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_json(text: str) -> tuple[str | None, str | None, Mapping[str, Any]]:
    facts = json.loads(text)
    extra = facts.get("extra") or {}
    return facts.get("login"), facts.get("password"), json.loads(extra) if isinstance(extra, str) else extra


def _of_uri(text: str) -> tuple[str | None, str | None, Mapping[str, Any]]:
    parts = urlsplit(text)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    extra = json.loads(query["__extra__"]) if "__extra__" in query else query
    return unquote(parts.username or "") or None, unquote(parts.password or "") or None, extra
