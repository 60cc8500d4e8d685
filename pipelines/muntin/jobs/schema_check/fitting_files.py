"""The files of a split that can be read and have the columns that the definition uses.

The few cells for which a column of numbers was taken for text, so that an error can name them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

import duckdb

from muntin.errors import MuntinError, SourceError
from muntin.jobs.schema_check.columns_of_files import missing_column
from muntin.jobs.state.bound import Bound
from muntin.sources.casts import in_type, with_point
from muntin.sources.reading.column_hints import no_column
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.mended import Mended
from muntin.sources.reading.mended_files import lines_of, taken_apart
from muntin.sources.reading.scan import ReadAs, quoted, said_types, scan
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.source import Source

_TEXTS = ("VARCHAR", "JSON")
_SHOWN = 3
_NOTHING = {"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "--", "?", ".", "#N/A"}
"""Words that people write where there is no number."""


def with_odd_cells(
    session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str], wrong: MuntinError
) -> MuntinError:
    """An error with a sentence about each column of text that it is about and that holds mostly numbers."""
    source = bound.source
    text = str(wrong).split("The source has")[0]
    if source.format not in ("csv", "json") or not any(kind in text for kind in _TEXTS):
        return wrong
    named = {
        word for sql in (text, *(field.of for field in bound.fields)) for word in re.findall(r"\w+", sql)
    }
    with suppress(duckdb.Error, SourceError, OSError):  # then the error is about something else
        read_as, columns = column_types(session, source, paths, bound.may_use)
        odd = [
            name
            for name, kind in columns.items()
            if kind in _TEXTS and name in named and name not in source.types
        ]
        said = str(wrong)
        for name in odd:
            if more := _of_column(
                session, source, paths, read_as, name, is_meant=f"; {name} is a text" in said
            ):
                said = said.partition(f"; {name} is a text")[0] + more  # which knows less of it
        return type(wrong)(said)
    return wrong


def _of_column(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    paths: Sequence[str],
    read_as: ReadAs,
    name: str,
    *,
    is_meant: bool,
) -> str:
    cell, rows, how = quoted(name), scan(source, paths, read_as), source.dialect
    number = f"{_number(cell, how.decimal, how.thousands)} IS NOT NULL"
    whole = (
        f"coalesce(bool_and(regexp_full_match({cell}::VARCHAR, '\\s*[-+]?\\d+\\s*')) FILTER (WHERE {number}),"
        " false)"
    )
    cells, numbers, integers = session.execute(
        f"SELECT count({cell}), count(*) FILTER (WHERE {number}), {whole} FROM {rows}"
    ).fetchall()[0]
    if source.format == "csv" and numbers < cells and (marks := _other_marks(session, cell, rows)):
        return f". Each cell of {name} is a number with {marks}; say it in format=sources.csv(...)"
    if cells and not numbers and is_meant:
        return f". No cell of {name} is a number, as {_shown(session, source, paths, read_as, name)[0][1]}"
    if not numbers or 2 * numbers < cells:
        return ""
    kind = "BIGINT" if integers else "DOUBLE"
    if numbers == cells:
        return (
            f'. {name} is text, though each of its cells is a number; say types={{"{name}": "{kind}"}} in'
            " sources.files(...)"
        )
    odd_cells = _shown(session, source, paths, read_as, name)
    words = {text for text, _ in odd_cells}
    empty = f'format=sources.csv(null=["", "{odd_cells[0][0]}"]) if that means that nothing is there, or '
    return (
        f". {name} is text, for {cells - numbers:,} of its {cells:,} cells are no numbers:"
        f" {', '.join(shown for _, shown in odd_cells)}. Say "
        + (empty if source.format == "csv" and len(words) == 1 and words < _NOTHING else "")
        + f'types={{"{name}": "{kind}"}} in sources.files(...), and such rows go to the quarantine'
    )


def _number(cell: str, decimal: str, thousands: str) -> str:
    """SQL for the number that a cell is in a way to write numbers; null where it is none."""
    return f"TRY({in_type(with_point(f'({cell})::VARCHAR', decimal, thousands), 'DOUBLE')})"


_MARKS = {
    (",", ""): 'decimal=","',
    (",", "."): 'decimal=",", thousands="."',
    (".", ","): 'thousands=","',
}
"""The ways in which people write decimals and thousands, other than plain -> the arguments."""


def _other_marks(session: duckdb.DuckDBPyConnection, cell: str, rows: str) -> str:
    """The ways to write numbers by which each cell is a number; "" where none is."""
    counts = ", ".join(f"count({_number(cell, *marks)})" for marks in _MARKS)
    cells, *numbers = session.execute(f"SELECT count({cell}), {counts} FROM {rows}").fetchall()[0]
    ways = [said for said, count in zip(_MARKS.values(), numbers, strict=True) if count == cells]
    return " or ".join(way for way in ways if not any(way.startswith(f"{other},") for other in ways))


def _shown(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], read_as: ReadAs, name: str
) -> list[tuple[str, str]]:
    """The first cells that are no numbers: their text, and the text with its place."""
    out, cell, how = list[tuple[str, str]](), quoted(name), source.dialect
    for path in paths:
        rows = f"SELECT {cell}, row_number() OVER () AS muntin_number FROM {scan(source, [path], read_as)}"
        odd = f"{cell} IS NOT NULL AND {_number(cell, how.decimal, how.thousands)} IS NULL"
        odd_cells = session.execute(
            f"SELECT {cell}::VARCHAR, muntin_number FROM ({rows}) WHERE {odd} LIMIT {_SHOWN - len(out)}"
        ).fetchall()
        if odd_cells:
            count = session.execute(f"SELECT count(*) FROM ({rows})").fetchall()[0][0]
            lines = lines_of(session, source, path, count)
            out += [
                (text, f"{text!r} in {path}" + ("" if lines is None else f", line {lines[at - 1]}"))
                for text, at in odd_cells
            ]
        if len(out) == _SHOWN:
            break
    return out


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
