"""Hints for a missing column: the columns that exist, similar names, and how a file may have to be read."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from muntin.definition.spelling import did_you_mean
from muntin.errors import SourceError
from muntin.sources.casts import is_number
from muntin.sources.file_source import FileSource
from muntin.sources.reading.scan import in_every_file, scan
from muntin.sources.sessions.duckdb_session import described

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from muntin.sources.source import Columns, Source

_DELIMITERS = ";\t|,"
_MAGIC = {
    "PAR1": 'Parquet does: say format="parquet"',
    "PK\x03\x04": 'an Excel file or an archive does: say format="xlsx", or save it as CSV',
}
_SEP = re.compile(r"(?i)sep=(.?)$")
"""The first line of a file of Excel."""
_VALUE = re.compile(r"[-+\d].*|")


def no_column(what: str, name: str, columns: Collection[str], source: Source) -> str:
    """The text of an error: `what` names a column that is none of the source's columns."""
    names = [each for each in columns if not each.startswith("muntin_")]
    for magic, mend in _MAGIC.items() if source.format == "csv" else ():
        if names and names[0].startswith(magic):
            return f"{what}: no column {name!r}; the file begins as {mend}"
    if source.format == "csv" and (sep := _SEP.match(names[0]) if names else None):
        delimiter = sep[1] or source.separator
        return (
            f"{what}: no column {name!r}; the first line says how the file is written, and the header follows"
            f" it: say format=sources.csv(delimiter={delimiter!r}, skip_lines=1)"
        )
    if source.format == "csv" and any("\0" in each for each in names):
        return (
            f"{what}: no column {name!r}; the file is written with two bytes a letter: say"
            ' format=sources.csv(encoding="utf-16")'
        )
    return f"{what}: no column {name!r}; there are {', '.join(names)}{_of_csv(names, source, name)}"


def _of_csv(names: Sequence[str], source: Source, name: str) -> str:
    """The column that was meant, or how a CSV file may have to be read, by its first line."""
    is_csv = source.format == "csv" and not source.dialect.header
    values = sum(bool(_VALUE.fullmatch(each)) for each in names) if is_csv else 0
    near = did_you_mean(name, names) if 2 * values < len(names) else ""
    if near or not is_csv:
        return near
    other = [
        each for each in _DELIMITERS if each != source.separator and len(names) == 1 and each in names[0]
    ]
    if other:
        return (
            f"; say format=sources.csv(delimiter={other[0]!r}), with skip_lines=1 if a line stands above the"
            " header"
        )
    if len(names) == 1:
        return "; if lines stand above the header, say format=sources.csv(skip_lines=1) for one line"
    return (
        "; if the first line is a row and has no names, say "
        'format=sources.csv(header=["...", ...]) with a name for each column'
        if values
        else ""
    )


def check_named(source: Source, columns: Columns) -> None:
    """See that columns are there by which rows are ordered and identified, and that the newest row can be
    known; DuckDB takes capitals and small letters alike.
    """
    newest_by = source.changes.newest_by if source.changes else None
    lower_names = {name.lower() for name in columns}
    for what, names in (
        ("arrival_order", [source.arrival_order] if source.arrival_order else []),
        ("dedupe", source.dedupe),
        ("newest_by", [newest_by] if newest_by else []),
    ):
        for name in names:
            if name.lower() not in lower_names and not (
                what == "arrival_order" and name == source.arrival_time
            ):
                raise SourceError(no_column(what, name, columns, source))
    for name, kind in columns.items():
        is_ordered = is_number(kind) or kind == "DATE" or kind.startswith("TIMESTAMP")
        if newest_by and name.lower() == newest_by.lower() and not is_ordered:
            raise SourceError(
                f"newest_by: column {name!r} is {kind}, and of texts '9' is newer than '10'; say its type,"
                f' types={{"{name}": "TIMESTAMPTZ"}} or "BIGINT", in {source.call}'
            )


def lacks_types(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str]
) -> SourceError | None:
    """The error of a file that lacks a column to which the definition gives a type; None:
    each file has them.
    """
    if not isinstance(source, FileSource):
        return None
    plain = replace(source, types={}, columns={}, hive={}, time_format=None)
    for path in paths:
        with suppress(duckdb.Error):
            there = described(session, f"FROM {scan(plain, [path])}")
            lower_names = {name.lower() for name in there}
            if missing_columns := [name for name in in_every_file(source) if name.lower() not in lower_names]:
                what = "event_time" if missing_columns[0] == source.event_time else "types"
                return SourceError(f"{path}: {no_column(what, missing_columns[0], there, source)}")
    return None
