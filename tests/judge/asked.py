"""The oracle's windows as a user writes them."""

from datetime import timedelta
from typing import Any

from pipelines import windows
from tests.oracle import AllTime, Calendar, Cumulating, Session, Sliding, Tumbling, Unique, Window


def span(us: int) -> timedelta:
    """Microseconds as a duration."""
    return timedelta(microseconds=us)


def size(asked: int | str) -> timedelta | str:
    """A duration, or months as they are."""
    return asked if isinstance(asked, str) else span(asked)


def window(asked: Window) -> object:
    """What is said without need is left out."""
    if isinstance(asked, AllTime):
        return windows.all_time()
    more: dict[str, Any] = {"grace": span(asked.grace)} | aligned(asked)
    match asked:
        case Session(gap=gap, touching=touching, max_length=longest):
            limit = {} if longest is None else {"max_length": span(longest)}
            return windows.session(span(gap), touching=touching, **limit, **more)
        case Sliding(size=long, step=step):
            return windows.sliding(span(long), step=span(step), **more)
        case Tumbling(size=long):
            return windows.tumbling(span(long), **more)
        case Calendar(months=months):
            return windows.tumbling(f"{months}mo", **more)
        case Cumulating(max_size=full, step=step):
            return windows.cumulating(size(full), step=size(step), **more)
        case Unique(size=long, resolution=resolution, on=on):
            return windows.unique_sliding(span(long), resolution=span(resolution), on=on, **more)


def aligned(asked: Any) -> dict[str, Any]:
    """Alignment and zone of those that have them."""
    at, zone = getattr(asked, "align_to", "00:00"), getattr(asked, "timezone", "UTC")
    return ({} if at == "00:00" else {"align_to": at}) | ({} if zone == "UTC" else {"timezone": zone})
