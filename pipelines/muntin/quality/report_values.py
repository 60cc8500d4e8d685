"""Values of reports, as text for people and as JSON types."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from muntin.printable import printable

_LETTERS, _ITEMS = 200, 50  # of a value
MOST = 60_000
"""Bytes of a report. Databases of Airflow keep an XCom and a message of up to 65,535."""


def plain(value: object) -> object:
    """A value as JSON types. Sets and tuples become lists; a type that JSON does not know becomes text. What
    is long is cut.

    Text is printable: pages show it as it is, and no PostgreSQL keeps JSON with a NUL, so that Airflow could
    not keep the report.

    >>> plain("x" * 1000)[-6:], plain([*range(1000)])[-1]
    ('xxx...', '... 950 more')
    """
    if value is None or isinstance(value, str | int | float):
        return _word(value)
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, Mapping):
        return {cut(printable(str(name)), _LETTERS): plain(item) for name, item in [*value.items()][:_ITEMS]}
    if isinstance(value, list | tuple | set | frozenset):
        more = len(value) - _ITEMS
        return [*(plain(item) for item in [*value][:_ITEMS]), *([f"... {more:,} more"] if more > 0 else [])]
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else _text(value)


def _word(value: str | float | None) -> str | float | None:
    if isinstance(value, str):
        return cut(printable(value), _LETTERS)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def cut(text: str, letters: int) -> str:
    """A text, cut where it is longer."""
    return text if len(text) <= letters else f"{text[: letters - 3]}..."


def size(value: object) -> int:
    """The bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return cut(value[:_LETTERS].hex() if isinstance(value, bytes) else printable(str(value)), _LETTERS)


def _instant(value: datetime) -> str:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def table(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under their column names, as lines with columns of equal width; no lines without rows."""
    shown = [{printable(name): _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    header = {name: name for name in names}
    lines = [header, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def _cell(value: object) -> str:
    return "null" if value is None else printable(str(plain(value)))
