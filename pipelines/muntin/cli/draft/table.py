"""Which encoding and delimiter a text is written in, and where its header stands."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

from muntin.errors import DefinitionError

_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_VALUE = re.compile(r"[-+\d.,:/ TZ]*\d[-+\d.,:/ TZ]*")
_YEAR = re.compile(r"(19|20)\d\d")
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


@dataclass(frozen=True, slots=True)
class Column:
    """Some values of a column, and the lines of the file that they stand in, or its rows."""

    name: str
    values: list[object]
    lines: list[int]
    place: str = "line"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a file, and the arguments of `sources.csv`: name -> (value, why)."""

    columns: list[Column]
    written: dict[str, tuple[object, str]]


def decoded(head: bytes) -> tuple[str, dict[str, tuple[object, str]]]:
    """The text of the begin of a file, and its encoding where a reader has to be given it."""
    for mark, name in _BOMS.items():
        if head.startswith(mark):
            return head.decode(name, errors="ignore"), {}
    if head.count(0) > len(head) // 4:
        raise DefinitionError(
            "--from: every other byte is 0, so this is UTF-16 without a mark, or no text; save it as UTF-8"
        )
    for at in range(4):  # the last character may be cut
        try:
            return head[: len(head) - at].decode(), {}
        except UnicodeDecodeError as wrong:
            first = wrong.start
    line = head.count(b"\n", 0, first) + 1
    try:
        name, text = "windows-1252", head.decode("windows-1252")
    except UnicodeDecodeError:
        name, text = "latin-1", head.decode("latin-1")
    why = f"no UTF-8: line {line} has the byte {head[first]:#x}, {text[first]!r} in {name}, which is assumed"
    return text, {"encoding": (name, why)}


def table_of(text: str, *, is_whole: bool) -> Table:
    """The table that a text holds; `is_whole`: whether its last line is not cut."""
    lines = text.splitlines(keepends=True)[: None if is_whole else -1]
    delimiter, width, share = max(
        ((each, *_width(lines[:500], each)) for each in _DELIMITERS),
        key=lambda best: (best[2] >= 0.5, (best[1] - 1) * best[2]),  # noqa: PLR2004 - of most lines
    )
    if width < 2 or share < 0.5:  # noqa: PLR2004 - a table has two columns, in most of its lines
        raise DefinitionError(
            "--from: no table of comma, semicolon, tab or bar: "
            f"line 1 is {lines[0].strip()[:60]!r}; a log is read once it is JSON lines or CSV"
            if lines
            else "--from: the file is empty; name a file that has rows"
        )
    reader = csv.reader(lines, delimiter=delimiter)
    rows = [(begin, row) for begin, row in _numbered(reader) if len(row) == width]
    head_line, names = rows[0]
    written: dict[str, tuple[object, str]] = {}
    if delimiter != ",":
        why = f"{_DELIMITERS[delimiter]} parts line {head_line} into {width} columns"
        written["delimiter"] = (delimiter, why)
    is_head = _is_head(names, [row for _, row in rows[1:]])
    above = head_line - 1
    if is_head:
        rows = rows[1:]
    if not rows:
        raise DefinitionError("--from: the file has a header and no rows; name a file that has rows")
    as_written = names
    names = _names(names) if is_head else [f"column_{at + 1}" for at in range(width)]
    if not is_head:
        written["header"] = (names, f"line {head_line} holds values, no names")
    elif names != as_written:
        above = rows[0][0] - 1
        written["header"] = (names, f"names of line {head_line} are blank or come twice")
    if above:
        written["skip_lines"] = (above, f"the table begins in line {above + 1}")
    columns = zip(*(row for _, row in rows), strict=True)
    places = [line for line, _ in rows]
    return Table([Column(name, [*each], places) for name, each in zip(names, columns, strict=True)], written)


def _is_head(names: list[str], body: list[list[str]]) -> bool:
    """Whether a first line has names: no values above values, or years above values."""
    if not body:
        return True
    cells = [[cell.strip() for cell in column if cell.strip()] for column in zip(*body, strict=True)]
    above = [
        name.strip()
        for name, column in zip(names, cells, strict=True)
        if name.strip() and column and all(map(_VALUE.fullmatch, column))
    ]
    return not above or not all(map(_VALUE.fullmatch, above)) or all(map(_YEAR.fullmatch, above))


def _names(names: list[str]) -> list[str]:
    """Names without blanks, each once, whatever its capital letters."""
    distinct: dict[str, str] = {}
    for at, name in enumerate(names):
        plain = name or f"column_{at + 1}"
        distinct[(plain if plain.lower() not in distinct else f"{plain}_{at + 1}").lower()] = (
            plain if plain.lower() not in distinct else f"{plain}_{at + 1}"
        )
    return [*distinct.values()]


def _width(lines: list[str], delimiter: str) -> tuple[int, float]:
    """The number of cells that most lines have, and the share of lines that have it."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
    except csv.Error:
        return 0, 0.0
    usual = {width: count for width, count in widths.items() if width > 1}
    if not usual:
        return 1, 0.0
    width = max(usual, key=lambda each: usual[each])
    return width, usual[width] / sum(widths.values())


def _numbered(reader: object) -> list[tuple[int, list[str]]]:
    """Rows, each with the line that it begins in."""
    rows, begin = [], 1
    try:
        for row in reader:  # type: ignore[attr-defined]
            rows.append((begin, row))
            begin = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as wrong:
        raise DefinitionError(f"--from: line {begin} is no CSV: {wrong}; mend the line") from wrong
    return rows
