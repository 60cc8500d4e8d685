"""Calendar windows: months, quarters and years of a time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, Duration
from muntin.definition.instants import from_us
from muntin.errors import DefinitionError
from muntin.windows.clock.alignment import WEEKDAYS, Alignment, alignment_us
from muntin.windows.gapless import Gapless

if TYPE_CHECKING:
    from muntin.states.frames import Ints
    from muntin.windows.clock.zones import Zone

_MONTHS = {"mo": 1, "q": 3, "y": 12}
_FORM = re.compile(r"\s*(\d+)\s*(mo|q|y)\s*")


@dataclass(frozen=True, slots=True)
class Calendar(Gapless):
    """Windows of `months` whole months. A window begins `clock_us` after the midnight that begins its first month.

    `phase`: the first month of a window, counted from January 1970.
    """

    months: int
    phase: int = 0
    clock_us: int = 0
    zone: Zone | None = None
    grace_us: int = 0
    dense: bool = False

    @property
    def anchor(self) -> tuple[int, int]:
        return DAY_US, self.clock_us

    def number_at(self, clock: Ints) -> Ints:
        import numpy as np

        month = (clock - self.clock_us).astype("M8[us]").astype("M8[M]").astype(np.int64)
        number: Ints = (month - self.phase) // self.months
        return number

    def border_at(self, numbers: Ints) -> Ints:
        import numpy as np

        month = numbers * self.months + self.phase
        border: Ints = month.astype("M8[M]").astype("M8[us]").astype(np.int64) + self.clock_us
        return border

    def reach_us(self, count: int) -> int:
        return (31 * self.months * count + 1) * DAY_US

    @property
    def least_us(self) -> int:
        return 14 * DAY_US


def months_of(size: Duration) -> int:
    """The months in a size such as "1mo", "1q", "2y"; 0 for any other duration.

    Raises:
        DefinitionError: a number of 0.
    """
    if not isinstance(size, str) or not (match := _FORM.fullmatch(size)):
        return 0
    if not int(match[1]):
        raise DefinitionError(f"size: {size!r} must be longer than 0")
    return int(match[1]) * _MONTHS[match[2]]


def calendar(months: int, align_to: Alignment, where: Zone | None, grace_us: int, *, dense: bool) -> Calendar:
    """Windows of whole months; see `tumbling`.

    Raises:
        DefinitionError: an alignment that is neither a time of day nor the first day of a month.
    """
    us = alignment_us(align_to, where)
    moment = from_us(us)
    if isinstance(align_to, datetime):
        if moment.day != 1:
            raise DefinitionError(
                f"align_to: {align_to} is no first day of a month on the clock of {where.name if where else 'UTC'}; "
                f"give one in that zone, as datetime(2024, 4, 1, tzinfo=ZoneInfo({(where.name if where else 'UTC')!r}))"
            )
        return Calendar(months, ((moment.year - 1970) * 12 + moment.month - 1) % months, us % DAY_US, where, grace_us, dense)
    if isinstance(align_to, str) and align_to.lower() in WEEKDAYS:
        raise DefinitionError(f'align_to: months do not begin on a {align_to}; give a time of day as "06:00", or the first day of a month')
    return Calendar(months, 0, us, where, grace_us, dense)
