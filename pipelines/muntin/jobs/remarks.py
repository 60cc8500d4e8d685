"""Remarks of a check on a definition and its source: on what is allowed, but seldom meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain

import duckdb

from muntin.definition.remarks import of_naive_times, remarks
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.accumulate.readings import parts_of
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.schema_check.first_files import first_with_rows
from muntin.jobs.state.bound import Bound
from muntin.sources.file_source import FileSource
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.row_times import event_time
from muntin.sources.reading.scan import ReadAs, quoted, scan
from muntin.sources.sessions.duckdb_session import kept_session
from muntin.sources.sessions.fetched_files import asked_once
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.source import Source

LARGE = 64 * 2**20  # bytes of text that would take seconds to read
_TRIED = 20  # files, until one has rows
_ROWS = 100  # of a file, whose times are tried


def remarked(bound: Bound, given: Inputs) -> list[str]:
    """Remarks on the definition, and on the times of a small file of each source."""
    texts = remarks(bound.pipeline)
    for part, inputs in parts_of(bound, given).values():
        files = sorted((file for each in inputs.files.values() for file in each), key=lambda file: file.size)[
            :_TRIED
        ]
        small = [[file.path] for file in files if file.size <= LARGE or part.source.format == "parquet"]
        if small and (part.source.log or isinstance(part.source, FileSource)):
            with suppress(duckdb.Error, SourceError, OSError):  # reading says what is wrong
                texts += _of_times(part, small)
    return texts


def _of_times(bound: Bound, pieces: Sequence[Sequence[str]]) -> list[str]:
    """Remarks on the event times of the first of some files that has rows."""
    source, session = bound.source, kept_session(bound.source.timezone)
    let_read(session, source, chain(*pieces))
    paths = first_with_rows(session, bound, pieces)
    with asked_once(paths):
        read_as, columns = column_types(session, source, paths, bound.may_use, declared=False)
        naive = of_naive_times(source, columns, bound.pipeline.windows)
        unread = (
            _unread(session, source, columns, paths, read_as)
            if columns.get(source.event_time) == "VARCHAR"
            else None
        )
    return [each for each in (naive, unread) if each]


def _unread(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    columns: Mapping[str, str],
    paths: Sequence[str],
    read_as: ReadAs,
) -> str | None:
    """A remark on texts of which none can be read as a time."""
    time, text = event_time(source, columns), quoted(source.event_time)
    rows = f"(SELECT {text}, {time} AS muntin_time FROM {scan(source, paths, read_as)} LIMIT {_ROWS})"
    [(read, texts, first)] = session.execute(
        f"SELECT count(muntin_time), count({text}), any_value({text}) FROM {rows}"
    ).fetchall()
    if read or not texts:
        return None
    return (
        f"event_time: {source.event_time!r} of {paths[0]} holds {first!r}, and none of the first {_ROWS} rows"
        " has a time that "
        f"can be read: they go into the quarantine; say in {source.call} how times are written, as"
        f' event_time=sources.at("{source.event_time}", format="%d.%m.%Y %H:%M")'
    )


def unreadable(source: Source, path: str) -> str:
    """A remark on a file no row of which can be read."""
    mend = (
        "; a line is one JSON object, so that a file which is one array has none"
        if getattr(source, "format", "") == "json"
        else ""
    )
    return (
        f"no row of {path} can be read, so SQL, keys and columns were not checked; a run would put each into"
        f" the quarantine{mend}"
    )


def lacking(bound: Bound, given: Inputs, intervals: Sequence[Interval]) -> list[str]:
    """For each source without a file in any of the intervals: the searched places, and the files there."""
    members = bound.members or {"": bound}
    parts = given.parts or {"": given}
    return [
        f"{f'source {name!r}: ' if name else ''}{searched_for(each.source, intervals)}"
        for name, each in members.items()
        if intervals and isinstance(each.source, FileSource) and not any(parts[name].files.values())
    ]


def searched_for(source: FileSource, intervals: Sequence[Interval]) -> str:
    """The searched places for the files of some intervals, and the files there."""
    from muntin.files.near import near, plain

    first, there = source.patterns(intervals[0]), near(source.patterns(intervals[0]))
    more = f" and so on, for {len(intervals)} batches up to {intervals[-1]}" if len(intervals) > 1 else ""
    return f"no file at {plain(first)} for the batch {intervals[0]}{more}{f'; {there}' if there else ''}"
