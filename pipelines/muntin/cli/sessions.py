"""The Spark session that a command was told to use."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from muntin.cli.exported import exported
from muntin.definition.extras import need
from muntin.errors import DefinitionError, StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT = 15002
_PATIENCE_S = 10


@contextmanager
def spark_session(url: str | None) -> "Iterator[SparkSession | None]":
    """A session on a Spark Connect server, released at the end; None without a URL: a run then starts its own.

    The metrics of what runs inside are sent when it ends, if the environment names a receiver.

    Raises:
        DefinitionError: not a URL of Spark Connect.
        StateError: nobody answers there.
    """
    if url is None:
        with exported():
            yield None
        return
    need("pyspark")
    _reach(url)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(url).getOrCreate()
    try:
        with exported():
            yield session
    finally:
        session.stop()


def _reach(url: str) -> None:
    """Spark Connect itself would try for ten minutes."""
    try:
        address = urlsplit(url)
        host, port = address.hostname, address.port or _PORT
    except ValueError:
        host, port = None, _PORT
    if not host or not url.startswith("sc://"):
        raise DefinitionError(f"--spark {url}: give a Spark Connect server, as sc://localhost:{_PORT}; leave it out for a local Spark")
    try:
        socket.create_connection((host, port), timeout=_PATIENCE_S).close()
    except OSError as wrong:
        raise StateError(f"--spark {url}: nobody answers at {host}:{port} ({wrong}); is the Spark Connect server up?") from wrong
