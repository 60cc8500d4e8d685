"""A CSV file cut into its rows, by the rules that DuckDB reads it by.

A cell that begins with a quote ends at the next single quote, and line ends inside are its own. Where no such
quote comes, or text stands behind it, the row ends with its line, so that a stray quote costs one line and
not the rest of the file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from muntin.definition.spelling import many
from muntin.sources.dialect import USUAL, Dialect
from muntin.sources.reading.cut_rows import LONGEST, MARK, Cut, is_text, not_text

_OPEN = "a quote opens, and none closes it"
_BEHIND = "text stands behind a closing quote"
_RETURN = "a carriage return stands alone outside of quotes"


class _Row(NamedTuple):
    """A row: where it ends, without its line end; where the next begins; its number of cells; what is wrong
    with it.
    """

    end: int
    next: int
    cells: int
    fault: str = ""


class _Marks(NamedTuple):
    """The patterns that cut rows.

    `quote`: a line end where nothing is quoted; no row has one inside. `ends`: the end of a cell.
    """

    delimiter: bytes
    quote: bytes
    ends: re.Pattern[bytes]


def cut_csv(data: bytes, delimiter: str, how: Dialect = USUAL) -> Cut | None:
    """The rows of a CSV file; None if its header cannot be read.

    Empty lines are none, unless there is a single column. `data`: UTF-8, skipped lines left out.
    """
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    marks = _Marks(
        delimiter.encode(),
        how.quote.encode() or b"\n",
        re.compile(b"[" + re.escape(delimiter.encode()) + b"\n]"),
    )
    at = len(MARK) if data.startswith(MARK) else 0
    plain = is_text(data)
    head = _Row(at, at, len(how.header)) if how.header else _row(data, at, marks)
    if head.fault or not_text(data[at : head.end]):
        return None
    cut = Cut(data, b"" if how.header else data[at : head.end] + b"\n")
    line = 1 + how.skip_lines + data.count(b"\n", at, head.next)
    at = head.next
    usual = _usual(marks, head.cells)
    while at < len(data):
        match = usual.match(data, at)  # faster than `_row`, which can do any row
        row = (
            _Row(_without_return(data, at, match.end() - 1), match.end(), head.cells)
            if match
            else _row(data, at, marks)
        )
        end = row.end - (
            row.cells == head.cells + 1 and row.end > at and data[row.end - 1 : row.end] == marks.delimiter
        )
        if end > at or head.cells == 1:
            cells = row.cells - (end < row.end)
            miscounted = f"{many(cells, 'cell')} instead of {head.cells}" if cells != head.cells else ""
            fault = row.fault or miscounted
            cut.add(at, end, line, fault or ("" if plain else not_text(data[at:end])))
        line += data.count(b"\n", at, row.next)
        at = row.next
    return cut


def _usual(marks: _Marks, cells: int) -> re.Pattern[bytes]:
    """A pattern for a row with so many cells that lies in one line and has no quote inside of a value."""
    mark = re.escape(marks.delimiter)
    quote = re.escape(marks.quote)
    quoted = b"" if marks.quote == b"\n" else quote + b"[^\\r\\n" + quote + b"]*" + quote + b"|"
    cell = b"(?:" + quoted + b"[^\\r\\n" + mark + quote + b"]*)"
    return re.compile(cell + b"(?:" + mark + cell + b"){" + str(cells - 1).encode() + b"}\\r?\\n")


def _row(data: bytes, at: int, marks: _Marks) -> _Row:
    mark, quote, ends = marks.delimiter, marks.quote, marks.ends
    stop = data.find(b"\n", at)
    stop = len(data) if stop < 0 else stop
    if data.find(quote, at, stop) < 0:
        end = _without_return(data, at, stop)
        return _Row(end, stop + 1, data.count(mark, at, stop) + 1, _alone(data, at, end))
    first, begin, cells, fault = stop, at, 1, ""
    while True:
        if data[at : at + 1] == quote:
            at = _closing(data, at + 1, quote)
            if at < 0:
                return _Row(_without_return(data, begin, first), first + 1, cells, _OPEN)
            if data[at : at + 1] not in (mark, b"\n", b"") and data[at : at + 2] != b"\r\n":
                return _Row(_without_return(data, begin, first), first + 1, cells, _BEHIND)
        match, cell = ends.search(data, at), at
        at = match.start() if match else len(data)
        fault = fault or _alone(
            data, cell, at if data[at : at + 1] == mark else _without_return(data, cell, at)
        )
        if data[at : at + 1] != mark:
            return _Row(_without_return(data, begin, at), at + 1, cells, fault)
        at, cells = at + 1, cells + 1


def _alone(data: bytes, begin: int, end: int) -> str:
    return _RETURN if data.find(b"\r", begin, end) >= 0 else ""


def _closing(data: bytes, at: int, quote: bytes) -> int:
    """The byte behind the quote that closes a cell; -1: none does, or the row is too long for DuckDB."""
    farthest = at + LONGEST
    while (at := data.find(quote, at, farthest)) >= 0:
        if data[at + 1 : at + 2] != quote:
            return at + 1
        at += 2
    return -1


def _without_return(data: bytes, begin: int, end: int) -> int:
    return end - (end > begin and data[end - 1 : end] == b"\r")
