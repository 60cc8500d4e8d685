"""The few cells for which a column of numbers was taken for text, so that an error can name them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb

from muntin.errors import MuntinError, SourceError
from muntin.sources.casts import in_type, with_point
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.mended_files import lines_of
from muntin.sources.reading.scan import quoted, scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.scan import Reading
    from muntin.sources.source import Source

_TEXTS = ("VARCHAR", "JSON")
_SHOWN = 3


def with_odd_cells(
    session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str], wrong: MuntinError
) -> MuntinError:
    """An error with a sentence about each column of text that it is about and that holds mostly numbers."""
    source, text = bound.source, str(wrong).split("The source has")[0]
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
        return type(wrong)(
            str(wrong) + "".join(_of_column(session, source, paths, read_as, name) for name in odd)
        )
    return wrong


def _of_column(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], read_as: Reading, name: str
) -> str:
    cell, rows = quoted(name), scan(source, paths, read_as)
    number = f"{_number(source, cell)} IS NOT NULL"
    whole = (
        f"coalesce(bool_and(regexp_full_match({cell}::VARCHAR, '\\s*[-+]?\\d+\\s*')) FILTER (WHERE {number}),"
        " false)"
    )
    cells, numbers, integers = session.execute(
        f"SELECT count({cell}), count(*) FILTER (WHERE {number}), {whole} FROM {rows}"
    ).fetchall()[0]
    if not numbers or 2 * numbers < cells:
        return ""
    kind = "BIGINT" if integers else "DOUBLE"
    if numbers == cells:
        return (
            f'. {name} is text, though each of its cells is a number; say types={{"{name}": "{kind}"}} in'
            " sources.files(...)"
        )
    shown = ", ".join(_shown(session, source, paths, read_as, name))
    return (
        f". {name} is text, for {cells - numbers:,} of its {cells:,} cells are no numbers: {shown}. "
        f'Say types={{"{name}": "{kind}"}} in sources.files(...), and such rows go to the quarantine'
    )


def _number(source: Source, cell: str) -> str:
    """SQL for the number that a cell is as its file writes numbers; null where it is none."""
    return f"TRY({in_type(with_point(f'({cell})::VARCHAR', source.dialect.decimal), 'DOUBLE')})"


def _shown(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], read_as: Reading, name: str
) -> list[str]:
    """The first cells that are no numbers, each with its place."""
    out, cell = list[str](), quoted(name)
    for path in paths:
        rows = f"SELECT {cell}, row_number() OVER () AS muntin_number FROM {scan(source, [path], read_as)}"
        odd = f"{cell} IS NOT NULL AND {_number(source, cell)} IS NULL"
        odd_cells = session.execute(
            f"SELECT {cell}::VARCHAR, muntin_number FROM ({rows}) WHERE {odd} LIMIT {_SHOWN - len(out)}"
        ).fetchall()
        if odd_cells:
            count = session.execute(f"SELECT count(*) FROM ({rows})").fetchall()[0][0]
            lines = lines_of(session, source, path, count)
            out += [
                f"{text!r} in {path}" + ("" if lines is None else f", line {lines[at - 1]}")
                for text, at in odd_cells
            ]
        if len(out) == _SHOWN:
            break
    return out
