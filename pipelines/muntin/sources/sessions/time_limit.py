"""How long the SQL of a definition may run: DuckDB is interrupted when its time is over."""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Event, Timer
from typing import TYPE_CHECKING

import duckdb

from muntin.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECONDS = "MUNTIN_SQL_SECONDS"
_at_work: set[duckdb.DuckDBPyConnection] = set()
USUAL = 3600.0  # for a split, about 48 MB of files
_AGAIN_S = 0.1  # an interrupt between two statements is lost


@contextmanager
def in_time(session: duckdb.DuckDBPyConnection, what: Sequence[str]) -> Iterator[None]:
    """Interrupt what a session does in the block once it takes longer than `MUNTIN_SQL_SECONDS`.

    `what`: paths of the files that are read, or what else the SQL is about.
    """
    limit, over, ended = seconds(USUAL), Event(), Event()

    def stop() -> None:
        over.set()
        while not ended.is_set():
            session.interrupt()
            ended.wait(_AGAIN_S)

    timer = Timer(limit, stop)
    timer.daemon = True
    timer.start()
    _at_work.add(session)
    try:
        yield
    except duckdb.InterruptException as wrong:
        if not over.is_set():
            raise
        raise SourceError(
            f"{', '.join(what)}: SQL of the definition ran longer than {limit:g} s; {SECONDS}=7200 lets it"
            " run longer"
        ) from wrong
    finally:
        _at_work.discard(session)
        ended.set()
        timer.cancel()
        timer.join()  # no interrupt is left for what the session does next


def interrupt_all() -> None:
    """Interrupt the SQL of all threads, when the whole process is to end."""
    for session in [*_at_work]:
        session.interrupt()


def seconds(usual: float) -> float:
    """The time that SQL may take. `usual`: where `MUNTIN_SQL_SECONDS` does not say."""
    given = os.environ.get(SECONDS, "")
    try:
        limit = float(given or usual)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise SourceError(f"{SECONDS}: {given!r} is no number of seconds; write 600")
    return limit
