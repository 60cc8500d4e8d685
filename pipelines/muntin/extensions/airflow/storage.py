"""The credentials of an object store from a connection of Airflow: put into the environment of the task,
where all clients find them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from muntin.definition.relative_paths import is_object_store
from muntin.extensions.airflow.spark import connection
from muntin.files.connections import variable_of

CONNECTION = "muntin_storage"
"""The name of the connection.

If there is none, the task's own environment, profile or instance has the credentials.
"""


def let_reach(places: Iterable[object]) -> None:
    """Put the credentials of the connection into the environment, if one of some places is an address of an
    object store.

    Workers of a local Spark inherit the environment; a Spark server has its own.
    """
    if any(is_object_store(str(place)) for place in places) and (
        airflow_connection := connection(CONNECTION)
    ):
        os.environ.update(
            settings(
                airflow_connection.conn_type,
                airflow_connection.login,
                airflow_connection.password,
                airflow_connection.extra_dejson,
            )
        )


def let_connect(name: str | None) -> None:
    """Put the connection that a source names into the environment, where clients of brokers read it; an
    existing connection stays.

    Workers of a local Spark inherit the environment; a Spark server has its own.
    """
    if name is not None and variable_of(name) not in os.environ and (airflow_connection := connection(name)):
        os.environ[variable_of(name)] = json.dumps(
            {
                "conn_type": airflow_connection.conn_type,
                "login": airflow_connection.login,
                "password": airflow_connection.password,
                "extra": airflow_connection.extra_dejson,
            }
        )


def settings(kind: str, login: str | None, password: str | None, extra: Mapping[str, Any]) -> dict[str, str]:
    """The variables that a connection of the type aws, google_cloud_platform or wasb stands for; of wasb the
    login is the account.

    >>> settings("aws", "key", "secret", {"region_name": "eu-central-1"})
    {'AWS_ACCESS_KEY_ID': 'key', 'AWS_SECRET_ACCESS_KEY': 'secret', 'AWS_REGION': 'eu-central-1'}
    """
    keyfile = extra.get("keyfile_dict")
    values = {
        "aws": {
            "AWS_ACCESS_KEY_ID": login,
            "AWS_SECRET_ACCESS_KEY": password,
            "AWS_SESSION_TOKEN": extra.get("aws_session_token"),
            "AWS_REGION": extra.get("region_name"),
            "AWS_ENDPOINT_URL": extra.get("endpoint_url"),
        },
        "google_cloud_platform": {
            "GOOGLE_SERVICE_ACCOUNT_KEY": keyfile
            if isinstance(keyfile, str) or not keyfile
            else json.dumps(keyfile)
        },
        "wasb": {"AZURE_STORAGE_ACCOUNT_NAME": login, "AZURE_STORAGE_ACCOUNT_KEY": password},
    }
    return {name: value for name, value in values.get(kind, {}).items() if value}
