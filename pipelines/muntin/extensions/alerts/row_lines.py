"""Failing rows as lines of a message.

Values come of data: a value is one line, of limited length, without control characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CELL, _LINE = 60, 500


def row_lines(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under the names of their columns, in columns of equal width; no lines without rows.

    >>> row_lines([{"who": "ann", "total": -1}])
    ['who  total', 'ann  -1']
    """
    shown = [{_cell(name): _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    lines = [{name: name for name in names}, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def shortened(text: str, length: int = _LINE) -> str:
    r"""A text as one line, cut where it is too long.

    >>> shortened("one\ntwo", 6)
    'one...'
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= length else f"{line[: length - 3]}..."


def _cell(value: object) -> str:
    return "null" if value is None else shortened(str(value), _CELL)
