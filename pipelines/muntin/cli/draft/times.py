"""How times are written: ISO 8601, a format of strptime, or a number since 1970."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

NAMED = re.compile(r"(?i)(^|_|\b)(at|ts|dt|day|zeit|created|heure|fecha)(_|\b|$)|time|date|datum")
PAST = re.compile(r"(?i)updat|modif|birth|expir|due|end|valuta|wertstellung")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?P<clock>[ T]\d\d:\d\d(:\d\d([.]\d+)?)?(?P<zone>Z|[-+]\d\d:?\d\d)?)?")
_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:(,? |T)(.+))?")
_CLOCKS = {
    "%H:%M": r"\d{1,2}:\d\d",
    "%H:%M:%S": r"\d{1,2}:\d\d:\d\d",
    "%H:%M:%S.%f": r"\d{1,2}:\d\d:\d\d\.\d{1,6}",
    "%I:%M %p": r"\d{1,2}:\d\d [AP]M",
    "%I:%M:%S %p": r"\d{1,2}:\d\d:\d\d [AP]M",
}
_OTHERS = {
    "%Y%m%d": r"(19|20)\d{6}",
    "%Y%m%d%H%M%S": r"(19|20)\d{12}",
    "%Y/%m/%d": r"\d{4}/\d\d?/\d\d?",
    "%Y/%m/%d %H:%M": r"\d{4}/\d\d?/\d\d? \d\d?:\d\d",
    "%Y/%m/%d %H:%M:%S": r"\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d",
    "%b %d %Y": r"[A-Z][a-z]{2} \d\d? \d{4}",
    "%b %d, %Y": r"[A-Z][a-z]{2} \d\d?, \d{4}",
    "%d %b %Y": r"\d\d? [A-Z][a-z]{2} \d{4}",
    "%d-%b-%Y": r"\d\d?-[A-Z][a-z]{2}-\d{4}",
    "%d/%b/%Y:%H:%M:%S %z": r"\d\d/[A-Z][a-z]{2}/\d{4}:\S+ [-+]\d{4}",
}
_MONTHS = 12
_UNITS = {10: "s", 13: "ms", 16: "us", 19: "ns"}
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class Times:
    """A column of times.

    Attributes:
        values: the instants, a local clock's as if it were UTC.
        arguments: of `sources.at`.
        is_zoned: whether each says its offset.
        is_clock: whether they have a time of day.
        why: the reason, in a line.
        doubt: why they cannot be read without a guess; "" where there is no doubt.
    """

    values: tuple[datetime, ...]
    arguments: dict[str, str]
    is_zoned: bool
    is_clock: bool
    why: str
    doubt: str = ""


def times_of(  # noqa: PLR0911 - a way of writing each
    name: str, cells: Sequence[str]
) -> Times | None:
    """The times of a column; None if some cell is no time."""
    if not cells:
        return None
    iso = [_ISO.fullmatch(cell) for cell in cells]
    if all(iso):
        zones = {bool(each and each["zone"]) for each in iso}
        if len(zones) > 1:
            return Times((), {}, False, True, "", f"{name}: some times have an offset, and some have none")
        try:
            values = tuple(_utc(datetime.fromisoformat(cell)) for cell in cells)
        except ValueError:
            return None
        is_clock = any(each and each["clock"] for each in iso)
        return Times(values, {}, zones == {True}, is_clock, f"ISO 8601, as {cells[0]}")
    for form, pattern in _OTHERS.items():
        if all(re.fullmatch(pattern, cell) for cell in cells):
            return _by_format(cells, form, "")
    if all(re.fullmatch(r"\d{10}(\d{3}){0,3}", cell) for cell in cells) and len({*map(len, cells)}) == 1:
        unit = _UNITS[len(cells[0])]
        if not NAMED.search(name):
            return None
        values = tuple(datetime.fromtimestamp(int(cell) / _PER_SECOND[unit], UTC) for cell in cells)
        return Times(values, {"unit": unit}, True, True, f"{len(cells[0])} digits since 1970, as {cells[0]}")
    return _by_days(name, cells)


def _by_days(name: str, cells: Sequence[str]) -> Times | None:
    parts = [_DAY.fullmatch(cell) for cell in cells]
    if not all(parts) or len({(p[2], len(p[4]), p[5]) for p in parts if p}) > 1:
        return None
    first, second = (next((p[0] for p in parts if p and int(p[at]) > _MONTHS), "") for at in (1, 3))
    mark, year, blank = next((p[2], "%y" if len(p[4]) == len("24") else "%Y", p[5] or "") for p in parts if p)
    clock = next(
        (
            form
            for form, pattern in _CLOCKS.items()
            if all(re.fullmatch(pattern, p[6] or "") for p in parts if p)
        ),
        "",
    )
    if (first and second) or bool(clock) != bool(blank):
        return None
    if not first and not second and mark != ".":
        return Times(
            (), {}, False, bool(clock), "", f"{name}: {cells[0]} may begin with its day or its month"
        )
    day_first = not second
    form = mark.join(("%d", "%m", year) if day_first else ("%m", "%d", year)) + blank + clock
    order = "day" if day_first else "month"
    decisive = f"{first or second} has its {order} first"
    return _by_format(
        cells, form, decisive if first or second else "day before month is assumed, by its points"
    )


def _by_format(cells: Sequence[str], form: str, why: str) -> Times | None:
    try:
        values = tuple(_utc(datetime.strptime(cell, form)) for cell in cells)  # noqa: DTZ007 - UTC is set
    except ValueError:
        return None
    return Times(values, {"format": form}, "%z" in form, "%M" in form, why or f"as {cells[0]}")


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
