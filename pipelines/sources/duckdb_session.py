"""DuckDB sessions, and what their errors mean to a user."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import duckdb

from pipelines.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

_THREAD = threading.local()


def connect(timezone: str | None = None) -> duckdb.DuckDBPyConnection:
    """A DuckDB session of one thread, so that the order of additions is the order of the rows."""
    session = duckdb.connect()
    session.execute("SET threads = 1")
    session.execute(f"SET TimeZone = '{timezone or 'UTC'}'")
    session.execute("SET enable_progress_bar = false")
    return session


def kept_session(timezone: str | None) -> duckdb.DuckDBPyConnection:
    """This thread's session of a zone: a Spark worker lives for many tasks."""
    sessions: dict[str | None, duckdb.DuckDBPyConnection] = _THREAD.__dict__.setdefault("sessions", {})
    if timezone not in sessions:
        sessions[timezone] = connect(timezone)
    return sessions[timezone]


def described(session: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    """Name -> SQL type of a query's columns."""
    return {name: kind for name, kind, *_ in session.execute(f"DESCRIBE {query}").fetchall()}


def said(wrong: duckdb.Error) -> str:
    """DuckDB's error without its view of our SQL."""
    return " ".join(str(wrong).split("\n\nLINE")[0].split("Candidate")[0].split()).rstrip("!. ")


def explained(wrong: duckdb.Error, paths: Sequence[str]) -> SourceError:
    """What a user can do about an error of DuckDB's."""
    first, text = ", ".join(paths), said(wrong)
    if isinstance(wrong, duckdb.OutOfRangeException | duckdb.ConversionException) and (
        "INT128" in text or "verflow" in text or "out of range" in text
    ):
        return SourceError(
            f'{first}: a sum does not fit its type ({text}); sum a DECIMAL or a DOUBLE instead, as agg.sum("x::DECIMAL(38, 0)")'
        )
    if isinstance(wrong, duckdb.BinderException):
        return SourceError(f"{first}: the definition does not fit the columns: {text}")
    return SourceError(f"{first} cannot be read: {text}")
