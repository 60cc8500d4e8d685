"""A source as a table: all its rows as they are now, for look-ups and for spans.

Files and tables with a log have files. A source of another kind, as of an extension, has `all_now(folder)`:
all its files, which it may write into the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, cast

from muntin.definition.schedule import Interval
from muntin.sources.file_source import FileSource
from muntin.sources.listing import SourceFile, source_files
from muntin.sources.reading.scan import literal, nulls
from muntin.sources.sessions.duckdb_session import kept_session
from muntin.sources.source import Source
from muntin.sources.tables import TableSource

_ALWAYS = Interval(0, 2**52)


@dataclass(frozen=True, slots=True)
class Whole:
    """A table as it is now.

    Attributes:
        source: with what its log says of its columns.
        files: all of them.
        version: of its log; "" without one.
        folder: where files of rows lie that were asked for.
    """

    source: Source
    files: Sequence[SourceFile]
    version: str
    folder: str

    @property
    def paths(self) -> list[str]:
        return [file.path for file in self.files]

    @property
    def facts(self) -> str:
        """A text that other rows change."""
        return repr(self.files).replace(self.folder, "")


@contextmanager
def table_now(source: Any) -> Iterator[Whole]:  # noqa: ANN401 - a source with the columns of its times
    """A table, to be read before the end of the block."""
    with TemporaryDirectory(prefix="muntin-") as folder:
        if source.log:
            yield _logged(source, folder)
        elif isinstance(source, FileSource):
            yield Whole(cast("Source", source), source_files(source, [_ALWAYS])[0][_ALWAYS], "", folder)
        else:
            yield Whole(source, source.all_now(folder), "", folder)


def _logged(source: TableSource, folder: str) -> Whole:
    from muntin.sources.logged.table_files import files_now, in_full, log_of

    whole = in_full(source)
    log = log_of(whole)
    files = files_now(whole) or [_without_rows(whole, folder)]
    return Whole(cast("Source", whole), files, log.named([log.newest]), folder)


def _without_rows(source: TableSource, folder: str) -> SourceFile:
    """A file with the columns of a table that has no file."""
    path = f"{folder}/0.parquet"
    rows = f"SELECT {nulls(source.columns)} LIMIT 0"
    kept_session(source.timezone).execute(f"COPY ({rows}) TO {literal(path)} (FORMAT parquet)")
    return SourceFile(path, 0, 0)
