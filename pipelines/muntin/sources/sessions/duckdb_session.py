"""DuckDB sessions that are kept for many tasks, and what their errors mean to a user."""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import gettempdir

import duckdb

from muntin.definition.spelling import did_you_mean
from muntin.errors import SourceError
from muntin.sources.casts import NO_DOUBLE
from muntin.sources.new_session import MEMORY, connect
from muntin.sources.per_thread import of_all_threads, of_this_thread
from muntin.sources.sessions.listed_files import PLAIN, let_read
from muntin.sources.sessions.time_limit import in_time
from muntin.sources.source import Source

_KIND_OF_ERROR = re.compile(r"^(?:Binder|Catalog|Parser) Error: ")
_NO_COLUMN = re.compile(r'Referenced column "(.+?)" not found in FROM clause')
_GUESS = re.compile(r'(\S+) does not exist! Did you mean "(.+?)"\??')
_NO_DOUBLE = re.compile(rf"'(.+): {NO_DOUBLE} (.+?)'")
KEEP_MEMORY = "MUNTIN_KEEP_MEMORY"


def kept_session(timezone: str | None) -> duckdb.DuckDBPyConnection:
    """This thread's session of a zone, which may read files: a Spark worker lives for many tasks."""
    return _kept(timezone, files=True)


@contextmanager
def careful_session(source: Source, paths: Sequence[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A session that may read files, for SQL with TRY: seldom needed, and closed behind, with its tables.

    `paths`: of the files.
    """
    session = connect(source.timezone, files=True, in_place=True)
    let_read(session, source, [*paths, gettempdir()])  # where copies of the files lie
    try:
        with in_time(session, paths):
            yield session
    finally:
        session.close()


def closed_session() -> duckdb.DuckDBPyConnection:
    """This thread's session in UTC that knows the tables which are registered in it, and no files."""
    return _kept(None, files=False)


def any_session() -> duckdb.DuckDBPyConnection:
    """A session of this thread, for what is the same in each.

    To open a session takes longer than most queries.
    """
    return next(iter(_sessions().values()), None) or closed_session()


@contextmanager
def sessions_of_a_task() -> Iterator[None]:
    """Close this thread's sessions behind a task where memory is short: a session keeps over a hundred
    megabytes that it has freed.
    """
    try:
        yield
    finally:
        if os.environ.get(KEEP_MEMORY) == "off":
            while _sessions():
                _sessions().popitem()[1].close()


def _kept(timezone: str | None, *, files: bool) -> duckdb.DuckDBPyConnection:
    # who gives more memory gets it at once
    sessions = _sessions()
    which = (timezone, files, os.environ.get(MEMORY))
    if which not in sessions:
        sessions[which] = connect(timezone, files=files)
    return sessions[which]


def _close_zones(process: int) -> None:
    """Close sessions with a zone at exit: of functions of open sessions DuckDB complains on stderr."""
    if os.getpid() == process:  # what a fork inherited may wait for threads that it does not have
        for (timezone, *_), session in [
            each for sessions in of_all_threads("sessions") for each in sessions.items()
        ]:
            if timezone:
                session.close()


atexit.register(_close_zones, os.getpid())


def _sessions() -> dict[tuple[str | None, bool, str | None], duckdb.DuckDBPyConnection]:
    return of_this_thread("sessions")


def described(session: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    """Name -> SQL type of a query's columns."""
    return {name: kind for name, kind, *_ in session.execute(f"DESCRIBE {query}").fetchall()}


def said(wrong: duckdb.Error) -> str:
    """DuckDB's error without its view of our SQL."""
    if "Traceback (most recent call last)" in str(wrong):  # of the file layer below DuckDB
        return str(wrong).partition("\n\nLINE")[0].strip().rpartition("\n")[2].partition(": ")[2]
    text = " ".join(
        re.sub(PLAIN, "", str(wrong))
        .split("\n\nLINE")[0]
        .split("Candidate")[0]
        .split("Possible solutions")[0]
        .split()
    ).rstrip("!. ")
    text = (
        _NO_COLUMN.sub(r'there is no column "\1"', _KIND_OF_ERROR.sub("", text))
        .removesuffix(" You might need to add explicit type casts")
        .rstrip(".")
    )
    return _GUESS.sub(
        lambda match: match[0] if did_you_mean(match[1], [match[2]]) else f"{match[1]} does not exist", text
    )


def explained(wrong: duckdb.Error, paths: Sequence[str]) -> SourceError:
    """The remedy for an error of DuckDB's."""
    first, text = ", ".join(paths), said(wrong)
    if match := _NO_DOUBLE.search(text):
        return SourceError(
            f"{first}: {match[1]} holds {match[2]}, which no double is, and earlier batches have doubles"
            " there; "
            f'write the column in one type, or say types={{"{match[1]}": "DOUBLE"}} in sources.files(...),'
            " which rounds it"
        )
    if isinstance(wrong, duckdb.OutOfRangeException | duckdb.ConversionException) and (
        "INT128" in text or "verflow" in text or "out of range" in text
    ):
        return SourceError(
            f"{first}: a sum does not fit its type ({text}); sum a DECIMAL or a DOUBLE instead, as"
            ' agg.sum("x::DECIMAL(38, 0)")'
        )
    if isinstance(wrong, duckdb.OutOfMemoryException):
        return SourceError(
            f"{first}: {text}; {MEMORY} says how much memory SQL may take in a task, 80 % of the machine's"
            " unless set"
        )
    if isinstance(wrong, duckdb.BinderException):
        return SourceError(f"{first}: the definition does not fit the columns: {text}")
    return SourceError(f"{first} cannot be read: {text}")
