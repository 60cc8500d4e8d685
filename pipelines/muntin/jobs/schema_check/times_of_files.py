"""Whether times in files of text say themselves which number is the day.

DuckDB takes a column for times in whichever way of writing fits all values of a file: 01/02/2024 is one day
in a file of January, and another in a file that has a 13/02/2024, too. It takes the words infinity and epoch
for days where a column holds nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.casts import OFFSET, YEAR_FIRST
from muntin.sources.reading.column_types import as_text, times_in
from muntin.sources.reading.scan import quoted, texts
from muntin.sources.sessions.file_facts_cache import answered_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from muntin.sources.source import Source

_YEAR_FIRST = re.compile(YEAR_FIRST)
_NUMBER, _WORD = "regexp_matches(text, '[0-9]')", "text IS NOT NULL"


def check_times(
    session: duckdb.DuckDBPyConnection, source: Source, columns: Mapping[str, str], paths: Sequence[str]
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
    session: duckdb.DuckDBPyConnection, source: Source, time_types: Mapping[str, str], path: str
) -> Iterator[tuple[str, str, str]]:
    """For each time in a file: the column, the name and the first text, a text with
    numbers if there is any.
    """
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
