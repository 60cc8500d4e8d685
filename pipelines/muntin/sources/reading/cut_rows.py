"""A file of text cut into its rows: where each is, and which cannot be taken apart.

Slow: it is asked where a file has bad rows.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.sources.exact_json import (
    MAY_BE_LOST,
    NO_DOUBLE,
    TOO_DEEP,
    Object,
    decoded,
    is_deep,
    lost_number,
    values_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.source import Used

NO_BYTE_OF_TEXT = "byte 0xff is no UTF-8"  # of bytes that are none of another encoding, too: see `plain_text`
MARK = b"\xef\xbb\xbf"  # that a file is UTF-8, at its begin
LONGEST = 2_000_000
"""Bytes of the longest row that DuckDB reads."""
_SHOWN = 10_000
_PART = 2**24


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows of a file, in order.

    Attributes:
        data: the file's bytes, not compressed.
        header: the bytes before the first row, with a line end; of JSON none.
        begin, end: of each row in `data`, without its line end.
        line: of each row's begin, from 1.
        faults: number of a row -> why it cannot be taken apart.
    """

    data: bytes
    header: bytes = b""
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.begin)

    def add(self, begin: int, end: int, line: int, fault: str) -> None:
        """Add a row; `fault`: why it cannot be taken apart, or ""."""
        fault = fault or ("" if end - begin <= LONGEST else f"a row of more than {LONGEST:,} bytes")
        if fault:
            self.faults[len(self.begin)] = fault
        self.begin.append(begin)
        self.end.append(end)
        self.line.append(line)

    def text(self, row: int) -> str:
        """A row as it is written, of a row that is too long its begin; each byte that is no UTF-8 by its
        number.
        """
        begin, end = self.begin[row], self.end[row]
        more = f" ... and {end - begin - _SHOWN:,} bytes" if end - begin > LONGEST else ""
        return self.data[begin : begin + _SHOWN if more else end].decode(errors="backslashreplace") + more

    def copy(self, rows: Sequence[int]) -> bytes:
        return self.header + b"".join([self.data[self.begin[row] : self.end[row]] + b"\n" for row in rows])


def lines(data: bytes, *, header: bool, quote: str = "") -> np.ndarray:
    """The line of each row of a file without bad rows, from 1. A cell that holds a quote in its midst may
    lead it astray.

    If `header`, the first row is none; `quote`: what line ends may stand between.
    """
    all_bytes = np.frombuffer(data, np.uint8)
    ends = np.append(np.flatnonzero(all_bytes == ord("\n")), len(data))
    open_quotes = (
        np.searchsorted(np.flatnonzero(all_bytes == ord(quote)), ends) % 2
        if quote
        else np.zeros(len(ends), np.int64)
    )
    last = ends[open_quotes == 0]
    begin = np.append(0, last + 1)[: len(last)]
    returns = np.append(all_bytes, 0)[np.maximum(last - 1, 0)] == ord("\r")
    line_numbers = np.searchsorted(ends, begin)[last - begin - returns > 0] + 1
    return line_numbers[1:] if header else line_numbers


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    decoder = getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for at in range(0, len(data), _PART):  # a text of all of it may have four bytes a letter
            decoder.decode(view[at : at + _PART])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def not_text(row: bytes) -> str:
    """Why bytes are no UTF-8; "" if they are."""
    try:
        row.decode()
    except UnicodeDecodeError as wrong:
        return f"byte 0x{row[wrong.start]:02x} is no UTF-8"
    return ""


_LINES = "muntin_lines"
_MAY_BE_LOST = re.compile(MAY_BE_LOST)
_FAULTS = f"""
SELECT number, CASE WHEN NOT json_valid(text) THEN 'no valid JSON'
WHEN json_type(text) <> 'OBJECT' THEN 'a JSON value that is no object' END AS fault
FROM {_LINES} WHERE fault IS NOT NULL
"""


def cut_json(
    session: DuckDBPyConnection,
    data: bytes,
    exact: Used = lambda _: False,
    guessed: Used = lambda _: False,
) -> Cut:
    """The rows of a file of JSON lines. DuckDB itself says whether a line is JSON. Empty lines are none.

    `exact`: the columns whose numbers must be there as they are written; `guessed`: the columns whose types
    are told from the file. DuckDB tells none where a member has the name "".
    """
    cut, at, number, plain = Cut(data), len(MARK) if data.startswith(MARK) else 0, 1, is_text(data)
    while at < len(data):
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        text = data[at:stop]
        if text.strip():
            fault = "" if plain else not_text(text)
            cut.add(
                at,
                at + len(text.rstrip(b"\r")),
                number,
                fault or (TOO_DEEP if is_deep(text.decode(errors="replace")) else ""),
            )
        at, number = stop + 1, number + 1
    rows = [row for row in range(len(cut)) if row not in cut.faults]
    texts = pa.array(map(cut.text, rows), pa.string())
    session.register(_LINES, pa.table({"number": pa.array(rows, pa.int64()), "text": texts}))
    try:
        cut.faults.update(session.execute(_FAULTS).fetchall())
    finally:
        session.unregister(_LINES)
    for row in rows:
        if row not in cut.faults and (fault := _fault(cut.text(row), exact, guessed)):
            cut.faults[row] = fault
    return cut


def _fault(text: str, exact: Used, guessed: Used) -> str:
    """Why a line that DuckDB takes for an object is no row; "" if it is."""
    line: dict[str, object] = {}
    with suppress(ValueError, RecursionError):  # what DuckDB takes and Python does not
        line = decoded(text)
    objects = [each for each in values_in(line) if isinstance(each, Object)]
    if any(each.twice for each in objects):
        return "a name stands twice in an object"
    if _MAY_BE_LOST.search(text) and (lost := lost_number(text, exact)):
        return f"{lost[0]} holds {lost[1]}, {NO_DOUBLE}"
    if not any("" in each for each in objects):
        return ""
    nameless = [
        name
        for name, value in line.items()
        if guessed(name) and any("" in each for each in values_in(value) if isinstance(each, Object))
    ]
    place = "the object" if "" in line else nameless[0] if nameless else ""
    return f"{place} has a member without a name" if place else ""
