"""Values of reports as people and as JSON read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime


def plain(value: object) -> object:
    """A value as JSON types; sets and tuples become lists, what JSON does not know becomes text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else _text(value)


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _instant(value: datetime) -> str:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def table(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under their column names, as lines of equal columns; no rows, no lines."""
    shown = [{name: _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    header = {name: name for name in names}
    lines = [header, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def _cell(value: object) -> str:
    return "null" if value is None else str(plain(value))
