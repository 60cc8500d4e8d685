"""Parameters of the oracle's windows as a user gives them."""

from datetime import timedelta
from typing import Any

HOUR = 3_600_000_000
DAY = 24 * HOUR


def span(us: int) -> timedelta:
    """Microseconds as a duration."""
    return timedelta(microseconds=us)


def size(asked: int | str) -> timedelta | str:
    """A duration, or months as they are."""
    return asked if isinstance(asked, str) else span(asked)


def aligned(asked: Any) -> dict[str, Any]:
    """Grace, alignment and zone. What is said without need is left out."""
    at, zone = getattr(asked, "align_to", "00:00"), getattr(asked, "timezone", "UTC")
    more = ({} if at == "00:00" else {"align_to": at}) | ({} if zone == "UTC" else {"timezone": zone})
    return {"grace": span(asked.grace)} | more


def back(far: int) -> dict[str, Any]:
    """How far trailing windows reach back: few months, else microseconds as days, or as hours."""
    if far < HOUR:
        return {"months": far}
    return {"hours": far // HOUR} if far % DAY else {"days": far // DAY}


def stepping(stretch: Any) -> dict[str, Any]:
    """How far apart trailing windows end; what is said without need is left out."""
    every = f"{stretch.months}mo" if hasattr(stretch, "months") else span(stretch.size)
    return {} if every == span(DAY) else {"every": every}
