"""Problems of a file as a whole: the found content, and the expected content."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb

from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.sources.reading.cut_csv import cut_csv
from muntin.sources.reading.cut_rows import LONGEST
from muntin.sources.reading.page_checksums import check_pages
from muntin.sources.reading.scan import files_sql
from muntin.sources.sessions.duckdb_session import said
from muntin.sources.sessions.plain_text import DamagedError, content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath
    from muntin.sources.source import Source, Used

_EXPECTED = {"parquet": "a Parquet file", "csv": "a CSV file", "json": "a file of JSON lines"}
_FRAME = b"PAR1"  # begins and ends a Parquet file


def file_problem(session: duckdb.DuckDBPyConnection, source: Source, path: str) -> str:
    """The problem of a file as a whole, as a sentence without its path; "" if it can be read, apart from
    single rows.
    """
    problem = _found(session, source, path_of(path))
    return f"{problem}; {_EXPECTED[source.format]} was expected" if problem else ""


def check_whole(source: Source, paths: Sequence[str], used: Used, rows: range | None) -> None:
    """Refuse what DuckDB reads without a word: CSV files of 0 bytes, as files without rows, and pages of
    Parquet with wrong checksums.

    An empty file of JSON lines is one. `used`, `rows`: as for `check_pages`.
    """
    if source.format == "parquet":
        check_pages(paths, used, rows)
    for path in paths if source.format == "csv" else ():
        with suppress(FileNotFoundError):  # which reading tells
            if not path_of(path).stat().st_size:
                raise SourceError(f"{path} is empty (0 bytes)")


def _found(session: duckdb.DuckDBPyConnection, source: Source, path: AnyPath) -> str:
    if path.is_dir():
        return "is a folder"
    if not path.stat().st_size:
        return "is empty (0 bytes)" if source.format != "json" else ""
    return _of_parquet(session, source, path) if source.format == "parquet" else _of_text(source, path)


def _of_parquet(session: duckdb.DuckDBPyConnection, source: Source, path: AnyPath) -> str:
    with path.open("rb") as file:
        first, size = file.read(len(_FRAME)), path.stat().st_size
        file.seek(max(0, size - len(_FRAME)))
        last = file.read()
    if first != _FRAME:
        return f"begins with {first!r}"
    if last != _FRAME:
        return f"is cut off after {size:,} bytes"
    try:
        rows = f"read_parquet({files_sql(source, [str(path)])}, hive_partitioning = false)"
        session.execute(f"SELECT max(hash(COLUMNS(*))) FROM {rows}").fetchall()
        check_pages([str(path)], lambda _: True)
    except duckdb.Error as wrong:
        return f"is damaged ({said(wrong)})"
    except DamagedError as damaged:
        return damaged.problem
    return ""


def _of_text(source: Source, path: AnyPath) -> str:
    try:
        data = content(str(path), source.dialect.encoding)
    except DamagedError as damaged:
        return damaged.problem
    headless = (
        source.format == "csv"
        and bool(data)
        and cut_csv(data[:LONGEST], source.separator, source.dialect) is None
    )
    if headless or (source.format == "csv" and not data):
        return "has no header that can be read"
    return ""
