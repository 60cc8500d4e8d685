"""Trailing windows: at the end of every month, the months before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import not_negative
from muntin.definition.kinds import Bounded, Cycle
from muntin.errors import DefinitionError
from muntin.windows.calendar import Calendar, calendar
from muntin.windows.clock.instants import at_any_instant
from muntin.windows.clock.zones import zone
from muntin.windows.kind import Plain
from muntin.windows.right_closed import Closed, RightClosed, closed_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.durations import Duration
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints
    from muntin.windows.clock.alignment import Alignment


@dataclass(frozen=True, slots=True)
class Trailing(Plain):
    """`months` whole months up to the end of each `month`."""

    months: int
    month: Calendar
    dense: bool = False

    @property
    def grace_us(self) -> int:
        return self.month.grace_us

    @property
    def follows(self) -> Bounded:
        return Bounded(self.month.reach_us(self.months))

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    def frame_us(self, grid_us: int) -> int:
        return self.month.frame_us(grid_us)

    @property
    def cycle(self) -> Cycle | None:
        return self.month.cycle

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.grid import sliding_numbers

        number = self.month.numbers(frames.start)
        return sliding_numbers(frames, number, self.months, self.month.numbers(floor)[frames.batch], self.month.borders)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        import numpy as np

        first = self.month.numbers(np.array([instant_us], np.int64)) + 1
        border = self.month.borders(np.arange(first[0] - self.months, first[0] + self.months))
        return [(int(start), int(end)) for start, end in zip(border, border[self.months :], strict=False)]

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        import numpy as np

        low, high = self.month.numbers(np.array([start_us, end_us], np.int64))
        border = self.month.borders(np.arange(low, high + 1))
        return border[: -self.months], border[self.months :]


def trailing(
    months: int,
    *,
    align_to: Alignment = None,
    timezone: str | None = None,
    closed: Closed = "left",
    grace: Duration = 0,
    dense: bool = False,
) -> Trailing | RightClosed:
    """At the end of each month, the last `months` calendar months; an event belongs to as many windows.

    Args:
        months: how many months a window reaches back.
        align_to: a time of day, or the first day of a month at a time of day (see `tumbling`).
        timezone: the IANA name of the zone of the months; UTC unless given.
        closed: as in `tumbling`.
        grace: how long after its end a window waits for late events.
        dense: whether `read` adds the empty windows between a key's first and last one, unless its caller decides otherwise.

    Raises:
        DefinitionError: a number of months that is not a whole number from 1, an unknown zone or alignment, a negative grace.
    """
    if not isinstance(months, int) or isinstance(months, bool) or months < 1:
        raise DefinitionError(f"months: {months!r} is not a number of months; give a whole number from 1, as trailing(months=3)")
    where = zone(timezone) if timezone is not None else None
    return closed_at(closed, Trailing(months, calendar(1, align_to, where, not_negative(grace, "grace"), dense=False), dense))
