"""Results on stdout: aligned columns for people, JSON for machines; in quiet no word of what was done."""

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TextIO
from zoneinfo import ZoneInfo

import typer

from muntin.printable import lines, number, printable

_KILO = 1000


def say(text: str = "") -> None:
    """Write a part of the result to stdout. Text of data does not reach the terminal as anything but text."""
    say_painted(lines(text))


def say_painted(text: str) -> None:
    """Write a text that has colours to stdout; whatever is of data in it is printable."""
    print(text, file=sys.stdout)


def say_json(document: object) -> None:
    """Write a JSON document, which is all that the command writes to stdout."""
    say_painted(json_text(plain(document)))


def json_text(document: object) -> str:
    r"""A document as JSON, in which characters that do not show themselves are escaped.

    >>> json_text(["a\x7f\u202e"])
    '[\n  "a\\u007f\\u202e"\n]'
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return "\n".join(printable(line, lambda each: json.dumps(each)[1:-1]) for line in text.split("\n"))


def plain(value: object) -> object:
    """A value as JSON has it: instants as ISO text, what JSON does not know as text."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)


def cell(value: object) -> str:
    """A value in a table for people.

    >>> cell(datetime(2013, 1, 1, 6, tzinfo=UTC)), cell(2 / 3), cell(12345), cell(None)
    ('2013-01-01 06:00', '0.6666666666666666', '12,345', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value.hex() if isinstance(value, bytes) else printable(str(value))
    return number(value)


def moment(value: datetime) -> str:
    """An instant in UTC, as long as it needs to be; with its offset where it is of a zone that the user
    named.

    >>> moment(datetime(2013, 1, 1, 6, tzinfo=ZoneInfo("Europe/Berlin")))
    '2013-01-01 06:00+01:00'
    """
    named = isinstance(value.tzinfo, ZoneInfo) and value.tzinfo.key != "UTC"
    value = value if named else value.astimezone(UTC).replace(tzinfo=None)
    rest = "microseconds" if value.microsecond else "seconds" if value.second else "minutes"
    return value.isoformat(" ", timespec=rest)


def columns(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under heads, numbers to the right."""
    from rich.cells import cell_len

    texts = [[printable(head) for head in heads], *([cell(value) for value in row] for row in rows)]
    right = [any(isinstance(row[at], int | float | Decimal) for row in rows) for at in range(len(heads))]
    widths = [max(cell_len(line[at]) for line in texts) for at in range(len(heads))]
    out = []
    for line in texts:
        gaps = [" " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)]
        cells = (
            gap + text if to_right else text + gap
            for text, gap, to_right in zip(line, gaps, right, strict=True)
        )
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def size(count: float) -> str:
    """A number of bytes.

    >>> size(999), size(1_234_567)
    ('999 B', '1.2 MB')
    """
    unit = "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if count < _KILO:
            break
        count, unit = count / _KILO, larger
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def in_zone(value: datetime, name: str | None) -> datetime:
    """An instant by the clock of a zone, for `moment`; None: as it is."""
    return value.astimezone(ZoneInfo(name)) if name else value


def stretches(holes: Sequence[tuple[datetime, datetime]], zone: str | None = None) -> str:
    """Intervals, neighbours joined. `zone`: whose clock they are shown by; None: UTC.

    >>> day = [datetime(2013, 1, n, tzinfo=UTC) for n in (1, 2, 3)]
    >>> stretches([(day[0], day[1]), (day[1], day[2])])
    '[2013-01-01 00:00, 2013-01-03 00:00)'
    """
    joined: list[tuple[datetime, datetime]] = []
    for start, end in sorted(holes):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return ", ".join(
        f"[{moment(in_zone(start, zone))}, {moment(in_zone(end, zone))})" for start, end in joined
    )


_QUIET = ContextVar("quiet", default=False)


@contextmanager
def quietly(on: bool) -> Iterator[None]:
    """Work in quiet, if asked."""
    before = _QUIET.set(on)
    try:
        yield
    finally:
        _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether --quiet was given."""
    return _QUIET.get()


def say_what_was_done(text: str = "") -> None:
    """A line of the report on work that was done, on stdout; nothing in quiet."""
    if not is_quiet():
        say(text)


def coloured(text: str, colour: str, *, stream: TextIO | None = None) -> str:
    """The text in a colour of the terminal ("red", "yellow", ...) that the stream, else stdout, is; as it
    stands anywhere else.
    """
    return typer.style(text, fg=colour) if wanted(stream or sys.stdout) else text


def wanted(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours, and NO_COLOR is not set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
