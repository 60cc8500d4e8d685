"""JSON that is one array, or objects over several lines, as lines of an object each.

[                          (an empty line)
  {"x": 1.50,              {"x": 1.50,   "y": 2},
   "y": 2},
  {"x": 3}                 (an empty line), {"x": 3}
]

An object stays as it is written, but for ends of lines between its members, and on the line where it begins.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BEGIN = 4096
"""Bytes at the begin of a file that say whether it has an object in each line."""
_BLANKS = re.compile(r"[ \t\r\n]*")
_END_OF_LINE = re.compile(r"[\r\n]+")
_value = json.JSONDecoder().raw_decode


def are_lines(begin: bytes) -> bool:
    """Whether a text is to be read by its lines, by its first bytes."""
    first = begin.lstrip().partition(b"\n")[0].strip()
    return not first.startswith(b"[") and not (
        first.startswith(b"{") and first[-1:] in b"{[," and b"\n" in begin
    )


def in_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A text in UTF-8, in parts, with an object in each line; a text that is no JSON as it is."""
    rest, begin = iter(parts), b""
    while len(begin) < BEGIN and (more := next(rest, b"")):
        begin += more
    if are_lines(begin[:BEGIN]):
        yield from chain([begin], rest)
        return
    whole = b"".join([begin, *rest])
    try:
        yield "".join(_objects(whole.decode())).encode()
    except (ValueError, RecursionError):
        yield whole


def _objects(text: str) -> Iterator[str]:
    at = _behind(text, 0)
    is_array = text[at : at + 1] == "["
    line, counted, at = 1, 0, _behind(text, at + 1) if is_array else at
    while at < len(text) and not (is_array and text[at] == "]"):
        value, end = _value(text, at)
        if not isinstance(value, dict):
            raise ValueError  # noqa: TRY004 - as other text that is no such JSON
        lines = text.count("\n", counted, at)
        yield "\n" * max(0, 1 + lines - line)
        yield _END_OF_LINE.sub(" ", text[at:end]) + "\n"
        line, at = max(line, 1 + lines) + 1, _behind(text, end)
        if is_array and text[at : at + 1] == ",":
            at = _behind(text, at + 1)
        elif is_array and text[at : at + 1] != "]":
            raise ValueError
    if is_array and text[at:].strip() != "]":
        raise ValueError


def _behind(text: str, at: int) -> int:
    """The place of what comes behind blanks."""
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
