"""Sending changes to the sinks of a definition, by connections of Airflow.

A sink that is down fails no task.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muntin.files.connections import Connection
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner

log = logging.getLogger("muntin")


def sent_to_sinks(bound: Bound, runner: Runner) -> list[str]:
    """Send to each sink what it misses; a line for each sink that got something or failed.

    The session of `runner` is for sinks that need Spark. It begins here: a task speaks to Airflow from one
    thread.
    """
    from muntin.jobs.sending.send import reported, send
    from muntin.sinks.delivery import Reach

    spark = runner.spark if any(sink.needs_spark for sink in bound.sinks) else None
    sent = send(bound, Reach(connections_of(bound.sinks), partial(nullcontext, spark) if spark else None))
    for one in sent:
        if one.rows and not one.failed:
            log.info("sinks: %s", one.line)
    return list(reported(sent))


def connections_of(sinks: Iterable[Any]) -> Callable[[str], Connection]:
    """The connections that sinks name, by name.

    They are asked for at once: a task speaks to Airflow from one thread.
    """
    from muntin.sinks.errors import SinkError

    connection_or_error = dict[str, Any]()
    for name in {sink.connection_name for sink in sinks if sink.connection_name}:
        try:
            connection_or_error[name] = connection_of(name)
        except SinkError as wrong:
            connection_or_error[name] = wrong

    def connection(name: str) -> Connection:
        if isinstance(connection_or_error[name], SinkError):
            raise connection_or_error[name]
        return connection_or_error[name]

    return connection


def connection_of(name: str) -> Connection:
    """A connection, wherever Airflow keeps it."""
    from muntin.extensions.airflow.spark import connection
    from muntin.files.connections import Connection
    from muntin.sinks.errors import SinkError

    if (airflow_connection := connection(name)) is None:
        raise SinkError(f"Airflow has no connection {name!r}; make it")
    return Connection(
        airflow_connection.conn_type,
        airflow_connection.host,
        airflow_connection.port,
        airflow_connection.login,
        airflow_connection.password,
        airflow_connection.schema,
        airflow_connection.extra_dejson,
    )
