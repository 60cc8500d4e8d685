"""Calendar windows: months, quarters, years and half months of a time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, Duration
from muntin.definition.instants import from_us
from muntin.errors import DefinitionError
from muntin.windows.clock import WEEKDAYS, Alignment, Zone, alignment_us
from muntin.windows.gapless import Gapless

if TYPE_CHECKING:
    from muntin.states.frames import Ints

_MONTHS = {"mo": 1, "q": 3, "y": 12}
_FORM = re.compile(r"\s*(\d+)\s*(mo|q|y)\s*")
_HALF_US = 15 * DAY_US
_LAST_FIRST = 28  # every month has this day


@dataclass(frozen=True, slots=True)
class Calendar(Gapless):
    """Windows of `months` whole months. A window begins `clock_us` after the midnight that begins its first
    month.

    `clock_us` may be days: of months that begin on the 26th it is 25 days.
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
    def halves(self) -> int:
        """The length of a window in halves of a month."""
        return 2 * self.months

    @property
    def shortest_us(self) -> int:
        """The shortest time from one border to the next on the local clock, or less."""
        return 14 * DAY_US * self.halves

    @property
    def least_us(self) -> int:
        return self.shortest_us - DAY_US


@dataclass(frozen=True, slots=True)
class HalfMonths(Calendar):
    """Windows from each month's 1st to its 15th day, and from its 16th; `months` and `phase` count halves."""

    def number_at(self, clock: Ints) -> Ints:
        import numpy as np

        within = clock - self.clock_us
        month = within.astype("M8[us]").astype("M8[M]")
        second = within - month.astype("M8[us]").astype(np.int64) >= _HALF_US
        number: Ints = 2 * month.astype(np.int64) + second
        return number

    def border_at(self, numbers: Ints) -> Ints:
        import numpy as np

        month = (numbers // 2).astype("M8[M]").astype("M8[us]").astype(np.int64)
        border: Ints = month + numbers % 2 * _HALF_US + self.clock_us
        return border

    def reach_us(self, count: int) -> int:
        return (16 * count + 1) * DAY_US

    @property
    def halves(self) -> int:
        return 1

    @property
    def shortest_us(self) -> int:
        return 13 * DAY_US


def months_of(size: Duration) -> int:
    """The months in a size such as "1mo", "1q", "2y"; 0 for any other duration."""
    if not isinstance(size, str) or not (match := _FORM.fullmatch(size)):
        return 0
    if not int(match[1]):
        raise DefinitionError(f"size: {size!r} must be longer than 0")
    return int(match[1]) * _MONTHS[match[2]]


def calendar(months: int, align_to: Alignment, where: Zone | None, grace_us: int, *, dense: bool) -> Calendar:
    """Windows of whole months; see `tumbling`."""
    month, clock_us = _beginning(align_to, where)
    return Calendar(months, month % months, clock_us, where, grace_us, dense)


def half_months(align_to: Alignment, where: Zone | None, grace_us: int, *, dense: bool) -> HalfMonths:
    """Windows of half a month; see `tumbling`."""
    return HalfMonths(1, 0, _beginning(align_to, where)[1], where, grace_us, dense)


def _beginning(align_to: Alignment, where: Zone | None) -> tuple[int, int]:
    """A month in which windows begin, counted from January 1970, and their time after its first midnight."""
    us = alignment_us(align_to, where)
    if isinstance(align_to, datetime):
        moment = from_us(us)
        if moment.day > _LAST_FIRST:
            name = where.name if where else "UTC"
            raise DefinitionError(
                f"align_to: {align_to} is day {moment.day} of a month on the clock of {name}, which not "
                "every month has; "
                f"give a day from 1 to {_LAST_FIRST}, as datetime(2024, 4, 1, tzinfo=ZoneInfo({name!r}))"
            )
        return (moment.year - 1970) * 12 + moment.month - 1, (moment.day - 1) * DAY_US + us % DAY_US
    if isinstance(align_to, str) and align_to.lower() in WEEKDAYS:
        raise DefinitionError(
            f'align_to: months do not begin on a {align_to}; give a time of day as "06:00", or the day of a '
            "month on which they do"
        )
    return 0, us
