"""Durations: users write "6h", a timedelta or whole microseconds; the engine counts microseconds."""

import re
from datetime import timedelta

from muntin.errors import DefinitionError

UNITS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
DAY_US = UNITS["d"]
Duration = str | timedelta | int

_FORM = re.compile(r"\s*(-?\d+)\s*([a-z]+)\s*")
_MEANT = re.compile(r"\s*(?:P(?P<time>T)?)?(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]+?)s?\s*")
_LONG = {
    "sec": "s",
    "second": "s",
    "min": "m",
    "minute": "m",
    "hr": "h",
    "hour": "h",
    "day": "d",
    "week": "w",
}


def microseconds(value: Duration, what: str) -> int:
    """A duration as whole microseconds; `what` names the parameter in the error.

    >>> microseconds("90s", "size")
    90000000
    """
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and (match := _FORM.fullmatch(value)) and match[2] in UNITS:
        return int(match[1]) * UNITS[match[2]]
    if isinstance(value, str) and value.strip() == "0":
        return 0
    raise DefinitionError(
        f"{what}: {value!r} is not a duration{_meant(value)}; write a number and a unit "
        f"({', '.join(UNITS)}), "
        f'as in "90s", "15m", "6h", "1d", or give a timedelta or whole microseconds'
    )


def _meant(value: object) -> str:
    """The spelling that was meant, as "1d" by "1 day", "1D" or "P1D"; "" if unclear: "1M" may be a month."""
    match = _MEANT.fullmatch(value) if isinstance(value, str) else None
    if not match or (match["unit"] == "M" and not match["time"]):
        return ""
    unit = match["unit"].lower()
    one_us = UNITS.get(_LONG.get(unit, unit), 0)
    us = round(float(match["number"]) * one_us)
    return f' (did you mean "{spell(us)}"?)' if us else ""


def positive(value: Duration, what: str) -> int:
    """A duration greater than 0, in microseconds."""
    if (us := microseconds(value, what)) <= 0:
        raise DefinitionError(f"{what}: {value!r} must be longer than 0")
    return us


def not_negative(value: Duration, what: str) -> int:
    """A duration of 0 or more, in microseconds."""
    if (us := microseconds(value, what)) < 0:
        raise DefinitionError(f"{what}: {value!r} must not be negative; 0 is the least")
    return us


def spell(us: int) -> str:
    """The shortest exact spelling of a duration.

    >>> spell(5_400_000_000)
    '90m'
    """
    for unit in ("w", "d", "h", "m", "s", "ms"):
        if us and us % UNITS[unit] == 0:
            return f"{us // UNITS[unit]}{unit}"
    return f"{us}us"
