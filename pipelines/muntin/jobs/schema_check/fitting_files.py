"""The files of a split that can be read and have the columns that the definition uses."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.jobs.schema_check.columns_of_files import missing_column
from muntin.sources.reading.mended_files import taken_apart
from muntin.sources.reading.scan import scan
from muntin.sources.sessions.duckdb_session import described

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.mended import Mended


@contextmanager
def fitting(session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str]) -> Iterator[tuple[Bound, Mended]]:
    """Files without what cannot be read of them, and the definition for them. The copies are there for as long as the context is.

    A file that lacks a column is a bad file, where the source puts such files into the quarantine. Elsewhere reading says it.

    Raises:
        SourceError: a file is bad as a whole, and the source says that is an error.
    """
    with taken_apart(session, bound.source, paths, bound.may_use) as files:
        for path in [*files.paths] if bound.source.on_bad_file == "quarantine" else ():
            if lack := _lack(session, bound, files, path):
                files.leave_out(path, lack)
        yield _for_copies(bound, files), files


def _lack(session: duckdb.DuckDBPyConnection, bound: Bound, files: Mended, path: str) -> str:
    """The missing column of a file with rows, in words; "" if none."""
    if path in files.places and not len(files.places[path][0]):
        return ""
    columns = described(session, f"FROM {scan(replace(files.source, types={}), [path])}")
    name = missing_column(session, bound, columns)
    return "" if name is None else f"the file has no column {name!r}, which the definition uses; it has {', '.join(columns)}"


def _for_copies(bound: Bound, files: Mended) -> Bound:
    """The definition with a source that is written as the copies are."""
    return bound if files.source == bound.source else replace(bound, pipeline=replace(bound.pipeline, source=files.source))
