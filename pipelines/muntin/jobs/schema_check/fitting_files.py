"""The files of a split that can be read and have the columns that the definition uses."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.jobs.schema_check.columns_of_files import missing_column
from muntin.sources.reading.column_hints import no_column
from muntin.sources.reading.mended_files import taken_apart
from muntin.sources.reading.scan import said_types, scan
from muntin.sources.sessions.duckdb_session import described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import duckdb

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.mended import Mended


@contextmanager
def fitting(
    session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str]
) -> Iterator[tuple[Bound, Mended]]:
    """Files without what cannot be read of them, and the definition for them. The copies are there for as
    long as the context is.

    A file that lacks a column is a bad file, where the source puts such files into the quarantine. Elsewhere
    reading says it, and of a file of CSV without a row that can be read this does. A file that is bad as a
    whole is an error where the source says so.
    """
    with taken_apart(session, bound.source, paths, bound.may_use) as files:
        for path in [*files.paths]:
            rows = path not in files.places or len(files.places[path][0])
            if not rows and bound.source.format != "csv":
                continue  # JSON without rows has no columns
            if bound.source.on_bad_file == "quarantine":
                if lack := _lack(session, bound, files, path):
                    files.leave_out(
                        path,
                        f"the file has no column {lack[0]!r}, which the definition uses; it has"
                        f" {', '.join(lack[1])}",
                    )
            elif not rows and (lack := _lack(session, bound, files, path)):
                what = "event_time" if lack[0] == bound.source.event_time else "the definition"
                raise SourceError(f"{files.of(path)}: {no_column(what, *lack, bound.source)}")
        yield _for_copies(bound, files), files


def _lack(
    session: duckdb.DuckDBPyConnection, bound: Bound, files: Mended, path: str
) -> tuple[str, Collection[str]] | None:
    """The missing column of a file, and its columns; None if none is missing.

    Without rows nothing but names can be wrong.
    """
    source = files.source
    columns = described(session, f"FROM {scan(replace(source, types={}), [path])}")
    if path in files.places and not len(files.places[path][0]):
        said = said_types(source) | dict(source.columns) | dict(source.hive)
        none = dict.fromkeys(columns, '"NULL"') | {
            source.event_time: "TIMESTAMP",
            source.arrival_time: "TIMESTAMP",
        }
        columns = {name: said.get(name, none[name]) for name in columns}
    name = missing_column(session, bound, columns)
    return None if name is None else (name, [*columns])


def _for_copies(bound: Bound, files: Mended) -> Bound:
    """The definition with a source that is written as the copies are."""
    return (
        bound
        if files.source == bound.source
        else replace(bound, pipeline=replace(bound.pipeline, source=files.source))
    )
