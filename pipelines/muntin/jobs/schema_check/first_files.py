"""Facts of a source's first files: their columns, the spelling of names, and the types of times."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.readable import readable_footer
from muntin.sources.casts import OFFSET, YEAR_FIRST
from muntin.sources.reading.column_types import as_text, column_types, times_in
from muntin.sources.reading.scan import first_line, quoted, scan, texts
from muntin.sources.sessions.duckdb_session import explained, kept_session
from muntin.sources.sessions.fetched_files import asked_once
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.sessions.plain_text import answered_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.sources.source import Columns, Source
_NUMBERED = re.compile(r"(.+)_\d+")


def check_names(
    session: duckdb.DuckDBPyConnection, source: Source, columns: Iterable[str], paths: Sequence[str]
) -> None:
    """Refuse files of CSV whose header has a name twice, in capitals or not.

    `columns`: as DuckDB tells them.
    """
    if source.format != "csv" or source.dialect.header or not _may_be_twice([*columns]):
        return
    for path in paths:
        (names,) = session.execute(first_line(source, path)).fetchall() or [()]
        plain = [(name or "").strip().lower() for name in names]
        if twice := [name for at, name in enumerate(plain) if name and name in plain[:at]]:
            raise SourceError(
                f"{path}: the first line has the column {twice[0]!r} twice; which of them is meant would be a"
                " guess. Rename one"
            )


def _may_be_twice(columns: Sequence[str]) -> bool:
    """Whether a column has the name of another and a number behind it."""
    names = {name.lower() for name in columns}
    return any((match := _NUMBERED.fullmatch(name)) and match[1].lower() in names for name in columns)


_YEAR_FIRST = re.compile(YEAR_FIRST)
_NUMBER, _WORD = "regexp_matches(text, '[0-9]')", "text IS NOT NULL"


def check_times(
    session: duckdb.DuckDBPyConnection, source: Source, columns: Columns, paths: Sequence[str]
) -> None:
    """Refuse files of CSV or JSON with texts that DuckDB reads as times but that do not
    begin with the year.
    """
    time_types = {
        name: kind for name, kind in columns.items() if name not in source.types and as_text(kind) != kind
    }
    for path in paths if source.format in ("csv", "json") and time_types else ():
        for column, name, text in _first_times(session, source, time_types, path):
            if not _YEAR_FIRST.match(text):
                raise SourceError(_guess(source, path, (name, text), column, as_text(time_types[column])))
            if (
                source.format == "csv"
                and source.timezone
                and column in (source.event_time, source.arrival_time)
            ):
                _check_zone(
                    session, source, path, column, text if time_types[column] == "TIMESTAMP" else None
                )


def _first_times(
    session: duckdb.DuckDBPyConnection, source: Source, time_types: Columns, path: str
) -> Iterator[tuple[str, str, str]]:
    """Column, name and first text of each time in a file, a text with numbers if there is any."""
    file = texts(source, path, {column: as_text(kind) for column, kind in time_types.items()})

    def answer(rows: str) -> list[tuple[str]]:
        return answered_once(rows, [path], lambda: session.execute(rows).fetchall())

    for column, kind in time_types.items():
        for name, values in times_in(column, kind, quoted(column)):
            for condition in (_NUMBER,) if _may_be_infinite(source, column) else (_NUMBER, _WORD):
                rows = (
                    f"SELECT text FROM (SELECT unnest({values}) AS text FROM {file}) WHERE {condition}"
                    " LIMIT 1"
                )
                if first := answer(rows):
                    yield column, name, first[0][0]
                    break


def _check_zone(
    session: duckdb.DuckDBPyConnection, source: Source, path: str, column: str, text: str | None
) -> None:
    """Refuse a column in which some times are local and some bring their zone: DuckDB makes one type of both.

    `text`: the first time of a column of local times; None: the column is of instants.
    """
    if text is None:
        local = f"SELECT {quoted(column)} AS text FROM {texts(source, path)}"
        rows = session.execute(
            f"SELECT text FROM ({local}) WHERE {_NUMBER} AND NOT regexp_matches(text, '{OFFSET}') LIMIT 1"
        ).fetchall()
        wrong = rows[0][0] if rows else None
    else:
        wrong = text if re.search(OFFSET, text) else None
    if wrong is not None:
        raise SourceError(
            f"{path}: column {column!r} holds {wrong!r}, so it is not sure which of its times are local ones"
            f" of {source.timezone}; say "
            f'types={{"{column}": "VARCHAR"}}, and those that bring an offset are told from the others'
        )


def _may_be_infinite(source: Source, column: str) -> bool:
    """Whether rows without a day are put into the quarantine."""
    return source.format == "json" and column in (source.event_time, source.arrival_time)


def _guess(source: Source, path: str, time: tuple[str, str], column: str, kind: str) -> str:
    name, text = time
    mend = f'types={{"{column}": "{kind}"}}, and take it apart in SQL'
    if name == source.event_time:
        mend = f'event_time=sources.at("{name}", format="%d.%m.%Y %H:%M"), as it is written'
    return (
        f"{path}: column {name!r} holds {text!r}: which number is the day would be a guess; say in"
        f" sources.files(...) {mend}"
    )


_TEXTS = ("csv", "json")


def first_columns(bound: Bound, pieces: Sequence[Sequence[str]]) -> dict[str, str]:
    """Name -> SQL type of the columns of the first files with rows; {} where that takes long and is not
    needed.
    """
    if bound.source.format != "parquet" and bound.source.on_schema != "quarantine":
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
