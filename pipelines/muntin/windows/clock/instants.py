"""The instants that users give to `windows_for`: a datetime, a duration since 1970, or whole microseconds."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import microseconds
from muntin.definition.instants import from_us, instant_us

if TYPE_CHECKING:
    from collections.abc import Callable

    Find = Callable[[Any, int], list[tuple[int, int]]]


def at_any_instant(find: Find) -> Find:
    """Let `windows_for` take any of the three. For a datetime it returns datetimes, else microseconds since 1970 UTC."""

    @wraps(find)
    def windows_for(self: Any, at: Any) -> Any:  # noqa: ANN401 - any of the three
        if isinstance(at, datetime):
            return [(from_us(start), from_us(end)) for start, end in find(self, instant_us(at, "windows_for"))]
        return find(self, microseconds(at, "windows_for") if isinstance(at, str | timedelta) else at)

    return windows_for
