"""The anchor of a grid of windows: what `align_to` says, else 1970-01-01T00:00."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, UNITS
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.windows.clock.zones import Zone

WEEKDAYS = ("thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday")  # 1970-01-01 was a Thursday
Alignment = str | datetime | None

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")


def alignment_us(align_to: Alignment, where: Zone | None = None) -> int:
    """Microseconds from 1970-01-01T00:00 to a border of the grid, both on the clock of the windows.

    >>> alignment_us("23:59") // 60_000_000
    1439

    Args:
        align_to: a time of day, a weekday, an aware datetime, or None.
        where: the zone whose clock cuts the windows.

    Raises:
        DefinitionError: neither a time of day, a weekday nor an aware datetime.
    """
    if align_to is None:
        return 0
    if isinstance(align_to, datetime):
        us = instant_us(align_to, "align_to")
        return where.local(us) if where else us
    if isinstance(align_to, str) and (match := _CLOCK.fullmatch(align_to)):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return hours * UNITS["h"] + minutes * UNITS["m"] + seconds * UNITS["s"]
    if isinstance(align_to, str) and align_to.lower() in WEEKDAYS:
        return WEEKDAYS.index(align_to.lower()) * DAY_US
    raise DefinitionError(
        f'align_to: {align_to!r} is not understood; give a time of day as "23:59", a weekday as "monday", or an aware datetime'
    )
