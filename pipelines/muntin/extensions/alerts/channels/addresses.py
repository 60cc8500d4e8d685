"""Where a channel's addresses are: in an environment variable, as Airflow has connections, or as plain text.

No error of this module repeats an address: it may hold a password.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from muntin.extensions.alerts.channels.errors import ChannelError
from muntin.extensions.alerts.declaration import VARIABLE
from muntin.files.connections import connection_of_environment

Address = tuple[str, Any]
"""An address of Apprise, and its tags or None."""


def of_environment(channel: str) -> list[Address]:
    """The addresses of `env:NAME`, or of the connection in `AIRFLOW_CONN_<NAME>`."""
    if channel.startswith(VARIABLE):
        name = channel.removeprefix(VARIABLE)
        if not (address := os.environ.get(name, "").strip()):
            raise ChannelError(f"the environment has no {name}; set it to an address of Apprise")
        return [(address, None)]
    connection = connection_of_environment(channel, ChannelError, "set it to a connection of type apprise")
    return of_connection(channel, connection.kind, connection.extra)


def of_connection(name: str, kind: str | None, extra: Mapping[str, Any]) -> list[Address]:
    """The addresses of a connection: its `extra` has `config`, an object or a list of objects with `path` and
    `tag`.
    """
    if kind != "apprise":
        raise ChannelError(
            f"the connection {name!r} is of type {kind}; make it one of type apprise, or give a notifier of"
            " Airflow"
        )
    try:
        config = extra["config"]
        parsed = json.loads(config) if isinstance(config, str) else config
        entries = [parsed] if isinstance(parsed, Mapping) else parsed
        return [(str(entry["path"]), entry.get("tag")) for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ChannelError(
            f'the connection {name!r} has no addresses; its extra is {{"config": [{{"path":'
            ' "mailto://..."}]}'
        ) from None
