"""Tumbling windows: time cut into pieces of one size, on the clock of UTC or of a time zone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, Duration, not_negative, positive
from muntin.definition.kinds import Even
from muntin.errors import DefinitionError
from muntin.windows.clock import WEEKDAYS, Alignment, Zone, alignment_us, local_windows, shifted_windows, zone
from muntin.windows.gapless import Gapless
from muntin.windows.kind import with_rules
from muntin.windows.kinds.calendar import Calendar, calendar, half_months, months_of
from muntin.windows.kinds.right_closed import Closed, RightClosed, closed_at

if TYPE_CHECKING:
    from muntin.states.frames import Ints
    from muntin.windows.kinds.business_days import BusinessDays


@dataclass(frozen=True, slots=True)
class Tumbling(Gapless):
    """Windows `[start, start + size)` of the local clock; a day may have 23 or 25 hours.

    `said`: the size as the user wrote it, where it is a text; for people.
    """

    size_us: int
    align_us: int = 0
    zone: Zone | None = None
    grace_us: int = 0
    dense: bool = False
    said: str = field(default="", repr=False, compare=False)

    @property
    def anchor(self) -> tuple[int, int]:
        return self.size_us, self.align_us

    def number_at(self, clock: Ints) -> Ints:
        number: Ints = (clock - self.align_us) // self.size_us
        return number

    def border_at(self, numbers: Ints) -> Ints:
        border: Ints = numbers * self.size_us + self.align_us
        return border

    def reach_us(self, count: int) -> int:
        return self.size_us * count + (DAY_US if self.zone else 0)

    @property
    def shortest_us(self) -> int:
        """The time from one border to the next on the local clock."""
        return self.size_us

    @property
    def least_us(self) -> int:
        return self.frame_us(0) if self.zone and self.zone.shift % self.size_us else self.size_us

    @property
    def even(self) -> Even | None:
        return None if self.zone else Even(self.size_us, self.size_us, self.align_us)

    def bounds(self, instants: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window that holds each instant."""
        if not self.zone:
            return self.cut(instants)
        windows = shifted_windows if self.zone.shift % self.size_us == 0 else local_windows
        return windows(instants, self.cut, self.zone)


def tumbling(
    size: Duration,
    *,
    align_to: Alignment = None,
    timezone: str | None = None,
    closed: Closed = "left",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    dense: bool = False,
    having: str | None = None,
) -> Tumbling | Calendar | BusinessDays | RightClosed:
    """Windows of one size, side by side.

    Args:
        size: how long a window is, as "15m" or "1d"; by the calendar "1mo", "1q" or "1y"; "1sm": half a
            month, up to its 15th day and from its 16th; "1bd": a day from Monday to Friday. In a zone it is
            counted on the local clock: "24h" is "1d" there, and lasts 23 or 25 hours where the clock changes.
        align_to: a border of the grid: a time of day ("23:59"), a weekday ("monday") or an aware datetime, of
            months, a datetime on the day on which they begin. None: midnight; weeks begin on Monday in a
            zone, without a zone on Thursday, as 1970-01-01.
        timezone: the IANA name of the zone whose clock cuts the windows; None is UTC.
        closed: which end of a window belongs to it: "left", `[start, end)`, or "right", `(start, end]`.
        grace: how long after its end a window waits for late events.
        allowed_lateness: for how long after that late events revise the window, which is published already.
        dense: whether `read` adds the empty windows between a key's first and last window, unless its caller
            decides otherwise.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: a size that is not positive, a negative grace, an unknown zone, alignment or
            `closed`.
    """
    if size == "1bd":
        from muntin.windows.kinds.business_days import business_days

        where = zone(timezone) if timezone is not None else None
        return with_rules(
            closed_at(closed, business_days(align_to, where, not_negative(grace, "grace"), dense=dense)),
            having,
            allowed_lateness,
        )
    return with_rules(
        closed_at(closed, side_by_side(size, align_to, timezone, grace, dense=dense)),
        having,
        allowed_lateness,
    )


def _monday_us(size_us: int, align_to: Alignment, where: Zone | None) -> int:
    """From 1970-01-01 to the first day of a calendar week, where weeks are cut by a zone's clock and
    `align_to` names no day.
    """
    names_a_day = isinstance(align_to, datetime) or str(align_to).lower() in WEEKDAYS
    return 0 if where is None or size_us % (7 * DAY_US) or names_a_day else alignment_us("monday")


def side_by_side(
    size: Duration,
    align_to: Alignment = None,
    timezone: str | None = None,
    grace: Duration = 0,
    *,
    dense: bool = False,
) -> Tumbling | Calendar:
    """The windows of `tumbling`, `[start, end)` each."""
    where, grace_us = zone(timezone) if timezone is not None else None, not_negative(grace, "grace")
    if months := months_of(size):
        return calendar(months, align_to, where, grace_us, dense=dense)
    if size == "1sm":
        return half_months(align_to, where, grace_us, dense=dense)
    try:
        size_us = positive(size, "size")
    except DefinitionError as wrong:
        raise DefinitionError(
            f'{wrong}; or by the calendar "1mo", "1q", "1y", "1sm" (half a month) or "1bd" (a business day)'
        ) from None
    return Tumbling(
        size_us,
        (alignment_us(align_to, where) + _monday_us(size_us, align_to, where)) % size_us,
        where,
        grace_us,
        dense,
        size if isinstance(size, str) else "",
    )
