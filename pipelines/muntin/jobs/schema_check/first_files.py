"""The first files with rows: their columns say what a state without batches holds."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.readable import readable_footer
from muntin.jobs.schema_check.contradictions import waits
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.scan import scan, texts
from muntin.sources.sessions.duckdb_session import explained, kept_session
from muntin.sources.sessions.fetched_files import asked_once
from muntin.sources.sessions.listed_files import let_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.sources.source import Source

_TEXTS = ("csv", "json")


def first_columns(bound: Bound, pieces: Sequence[Sequence[str]]) -> dict[str, str]:
    """Name -> SQL type of the columns of the first files with rows; {} where that takes long and is not
    needed.
    """
    if bound.source.format != "parquet" and not waits(bound):
        return {}
    session = kept_session(bound.source.timezone)
    let_read(session, bound.source, chain(*pieces))
    with suppress(duckdb.Error, SourceError, OSError), asked_once(pieces[0]):  # reading says what is wrong
        paths = first_with_rows(session, bound, pieces)
        # who reads the files sees to that
        return column_types(session, bound.source, paths, bound.may_use, declared=False).columns
    return {}


def columns_of(session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str]) -> dict[str, str]:
    """Name -> SQL type of the columns of some files together."""
    return column_types(session, bound.source, paths, bound.may_use).columns


def first_with_rows(
    session: duckdb.DuckDBPyConnection, bound: Bound, pieces: Sequence[Sequence[str]]
) -> Sequence[str]:
    """The first piece with rows, else the first piece; where all files have the same columns, a piece without
    rows will do.
    """
    if bound.source.blank:
        return [bound.source.blank]
    return next((piece for piece in pieces if _has_rows(session, bound, piece)), pieces[0])


def _has_rows(session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str]) -> bool:
    if bound.source.format == "parquet":
        with suppress(OSError, pa.ArrowException):  # which DuckDB explains
            return any(pq.read_metadata(readable_footer(path)).num_rows for path in paths)
    try:
        return any(
            session.execute(f"SELECT 1 FROM {_rows(bound.source, path)} LIMIT 1").fetchall() for path in paths
        )
    except duckdb.Error as wrong:
        raise explained(wrong, paths) from wrong


def _rows(source: Source, path: str) -> str:
    """The rows of a file, whatever their types."""
    if source.format not in _TEXTS:
        return scan(source, [path])
    return texts(source, path, {"muntin_row": "VARCHAR"} if source.format == "json" else None)
