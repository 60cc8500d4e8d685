"""How long the SQL of a definition, and a query of a person, may run, and how much memory a query may take:
DuckDB is interrupted beyond that, and left behind where it does not listen.

query        runs, in a thread of its own
bounds              time or memory is over: interrupt, and the caller goes on with the error
                    a function that fills gigabytes, as repeat('x', 3000000000), listens to nothing: its
                    thread ends when it likes
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread, Timer
from threading import enumerate as running
from time import monotonic

import duckdb
import pyarrow as pa

from muntin.errors import DefinitionError, SourceError
from muntin.sources.new_session import MEMORY

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


USUAL_S, USUAL_MEMORY = 300.0, "4GB"
_LOOKS_EACH_S, _LISTENS_WITHIN_S = 0.02, 1.0
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_QUERY = "muntin-query"


def within_bounds(session: duckdb.DuckDBPyConnection, query: Callable[[], pa.Table]) -> pa.Table:
    """The result of a query, within `MUNTIN_SQL_SECONDS` and the memory of its session, which is closed."""
    limit_s, [(memory,)] = (
        seconds(USUAL_S),
        session.execute("SELECT current_setting('memory_limit')").fetchall(),
    )
    tables: list[pa.Table] = []
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            tables.append(query())
        except BaseException as raised:  # noqa: BLE001 - the caller gets it
            wrong.append(raised)
        finally:
            session.close()

    thread, begun, most = (
        Thread(target=work, name=_QUERY, daemon=True),
        monotonic(),
        _most() + _bytes(memory),
    )
    thread.start()
    try:
        while thread.is_alive() and monotonic() - begun < limit_s and _most() < most:
            thread.join(_LOOKS_EACH_S)
    finally:
        if thread.is_alive():
            session.interrupt()
            thread.join(_LISTENS_WITHIN_S)
    if tables:
        return tables[0]
    if monotonic() - begun >= limit_s:
        raise DefinitionError(
            f"sql: the query takes longer than {limit_s:g} s; {SECONDS}={2 * limit_s:g} lets it run longer"
        )
    if _most() >= most or isinstance(wrong[0], duckdb.OutOfMemoryException):
        raise DefinitionError(
            f"sql: the query takes more than {memory} of memory; {MEMORY}=16GB lets it take more"
        )
    raise wrong[0]


def is_left_behind() -> bool:
    """Whether a query is at work whose caller has gone on with an error, or was interrupted."""
    return any(thread.name == _QUERY for thread in running())


def _most() -> int:
    """The most memory that this process has had, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _bytes(text: str) -> int:
    """Bytes of an amount as DuckDB writes it.

    >>> _bytes("3.7 GiB"), _bytes("512 bytes")
    (3972844748, 512)
    """
    number, unit = re.fullmatch(r"([\d.]+) (\w+)", text).groups()  # type: ignore[union-attr]  # DuckDB's own
    return int(float(number) * 1024 ** _UNITS.index(unit))
