"""Airflow's database: PostgreSQL from a wheel, for as long as it is needed.

SQLite will not do beside a scheduler: the scheduler saw a backfill's run before the run had its tasks, and died of it.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.demo.background import Component, Program, started, undisturbed
from examples.demo.home import Home, airflow
from examples.demo.waiting import finish, until


@contextmanager
def database(home: Home, *, kept: Path | None = None) -> Iterator[Component]:
    """The server. Its folder is removed at the end, with the data unless they are `kept` in a folder that stays."""
    command = [sys.executable, "-m", "examples.demo.postgres", str(home.database)]
    with temporary(home.database.parent):
        if kept:
            home.database.symlink_to(kept)
        with started(Program("the database", command, home.logs / "database.log"), env=home.env) as (server,):
            yield server


@contextmanager
def temporary(folder: Path) -> Iterator[None]:
    """A folder that is there for a while. PostgreSQL, which may be another user, can walk through it."""
    folder.mkdir()
    folder.chmod(0o711)
    try:
        yield
    finally:
        with undisturbed():
            shutil.rmtree(folder)


def migrate(home: Home, server: Component) -> None:
    """Make Airflow's tables, or bring them up to date.

    Raises:
        DemoError: that does not work.
    """
    until(lambda: answers_queries(home), "the database", [server], home.folder)
    finish(Program("airflow db migrate", airflow("db", "migrate"), home.logs / "migrate.log"), home, [server])


def answers_queries(home: Home) -> bool:
    """Whether the server takes a session."""
    import psycopg2

    try:
        psycopg2.connect(f"postgresql://postgres@/postgres?host={home.database}").close()
    except psycopg2.OperationalError:
        return False
    return True
