"""The settings of a connection: in the environment, as Airflow has connections. No error of this module
repeats a value.

A connection of type kafka has settings of librdkafka in its extra:
https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.errors import BrokerError
from muntin.files.connections import connection_of_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

REGISTRY = "registry."
"""Begins the names of settings that are for the schema registry."""


def settings(connection: str | None) -> dict[str, str]:
    """Name -> value of the settings of a connection; none without one."""
    if connection is None:
        return {}
    mend = (
        f'connection={connection!r} names it: set it to a connection of type kafka, as {{"conn_type":'
        ' "kafka", "login": "...", "password": "...", "extra": {"security.protocol": "SASL_SSL"}}'
    )
    airflow_connection = connection_of_environment(connection, BrokerError, mend)
    return of_parts(airflow_connection.login, airflow_connection.password, airflow_connection.extra)


def of_parts(login: str | None, password: str | None, extra: Mapping[str, Any]) -> dict[str, str]:
    """The settings that a connection stands for.

    >>> of_parts("me", "secret", {"security.protocol": "SASL_SSL"})  # doctest: +NORMALIZE_WHITESPACE
    {'security.protocol': 'SASL_SSL', 'sasl.username': 'me', 'sasl.password': 'secret', 'sasl.mechanism':
    'PLAIN'}
    """
    client_settings = {str(name): _text(value) for name, value in extra.items()}
    if login and password:
        theirs = {"sasl.username": login, "sasl.password": password}
        client_settings = {**client_settings, **theirs}
        if not {"sasl.mechanism", "sasl.mechanisms"} & set(client_settings):
            client_settings["sasl.mechanism"] = "PLAIN"
        client_settings.setdefault("security.protocol", "SASL_SSL")
    return client_settings


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
