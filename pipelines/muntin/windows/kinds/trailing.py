"""Trailing windows: at the end of every month the months before it, at every midnight the days before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, UNITS, Duration, spell
from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Bounded, Cycle
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import Alignment, at_any_instant
from muntin.windows.kind import Plain, with_rules
from muntin.windows.kinds.calendar import Calendar
from muntin.windows.kinds.last_part import LastPart
from muntin.windows.kinds.right_closed import Closed, RightClosed, closed_at
from muntin.windows.kinds.sliding import check_overlap
from muntin.windows.kinds.tumbling import Tumbling, side_by_side

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints

_UNITS = {"weeks": 7 * DAY_US, "days": DAY_US, "hours": UNITS["h"]}


@dataclass(frozen=True, slots=True)
class Trailing(Plain):
    """`count` neighbouring stretches of time, up to the end of each `stretch`."""

    count: int
    stretch: Calendar | Tumbling
    dense: bool = False

    @property
    def grace_us(self) -> int:
        return self.stretch.grace_us

    @property
    def follows(self) -> Bounded:
        return Bounded(self.stretch.reach_us(self.count))

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    def frame_us(self, grid_us: int) -> int:
        return self.stretch.frame_us(grid_us)

    @property
    def cycle(self) -> Cycle | None:
        return self.stretch.cycle

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.grid import sliding_numbers

        number = self.stretch.numbers(frames.start)
        return sliding_numbers(
            frames, number, self.count, self.stretch.numbers(floor)[frames.batch], self.stretch.borders
        )

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        import numpy as np

        first = self.stretch.numbers(np.array([instant_us], np.int64)) + 1
        border = self.stretch.borders(np.arange(first[0] - self.count, first[0] + self.count))
        return [(int(start), int(end)) for start, end in zip(border, border[self.count :], strict=False)]

    def earliest(self, after_us: int, until_us: int) -> int:
        return (
            AFTER_ALL
            if self.stretch.earliest(after_us, until_us) == AFTER_ALL
            else after_us - self.follows.reach_us
        )

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        import numpy as np

        low, high = self.stretch.numbers(np.array([start_us, end_us], np.int64))
        border = self.stretch.borders(np.arange(low, high + 1))
        return border[: -self.count], border[self.count :]


def trailing(
    months: int | None = None,
    *,
    weeks: int | None = None,
    days: int | None = None,
    hours: int | None = None,
    every: Duration | None = None,
    align_to: Alignment = None,
    timezone: str | None = None,
    closed: Closed = "left",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    dense: bool = False,
    having: str | None = None,
) -> Trailing | LastPart | RightClosed:
    """At the end of each month the last calendar months; at each midnight the last days.

    Args:
        months, weeks, days, hours: how far a window reaches back; exactly one is given. In a zone it is
            counted on the local clock: seven days begin at a midnight, and may last 167 or 169 hours.
        every: how far windows end apart, as `tumbling` takes it: "1d", "1w", "12h", "1mo". Of months: "1mo"
            unless given. Else: "1d", each midnight.
        align_to: a border at which a window ends (see `tumbling`).
        timezone: the IANA name of the zone whose clock it is; UTC unless given.
        closed: as in `tumbling`.
        grace: how long after its end a window waits for late events.
        allowed_lateness: for how long after that late events revise the window, which is published already.
        dense: whether `read` adds the empty windows between a key's first and last window, unless its caller
            decides otherwise.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: not exactly one number, or a number that is not whole and from 1; a length that is no
            whole number of `every` and longer; an unknown zone or alignment, a negative grace.
    """
    unit, number = _asked({"months": months, "weeks": weeks, "days": days, "hours": hours})
    stretch = _steady(side_by_side(every or ("1mo" if unit == "months" else "1d"), align_to, timezone, grace))
    if unit == "months":
        return with_rules(
            closed_at(closed, Trailing(_whole_stretches(number, stretch), stretch, dense)),
            having,
            allowed_lateness,
        )
    size_us = number * _UNITS[unit]
    if size_us < stretch.shortest_us or (size_us == stretch.shortest_us and isinstance(stretch, Calendar)):
        return with_rules(closed_at(closed, LastPart(stretch, size_us, dense)), having, allowed_lateness)
    if isinstance(stretch, Calendar) or size_us % stretch.size_us:
        raise DefinitionError(_misfit(f"{unit}={number}", stretch))
    check_overlap("every", size_us, stretch.size_us, _UNITS[unit])
    return with_rules(
        closed_at(closed, Trailing(size_us // stretch.size_us, stretch, dense)), having, allowed_lateness
    )


def _asked(given: dict[str, int | None]) -> tuple[str, int]:
    """The unit that is given, and the number of it."""
    asked = {unit: number for unit, number in given.items() if number is not None}
    if len(asked) != 1:
        lengths = " and ".join(f"{unit}={number}" for unit, number in asked.items()) or "nothing"
        raise DefinitionError(
            f"trailing: {lengths} is given; say how far windows reach back by one of months, weeks, days, "
            "hours, as days=7"
        )
    [(unit, number)] = asked.items()
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise DefinitionError(
            f"{unit}: {number!r} is not a number of {unit}; give a whole number from 1, as trailing({unit}=3)"
        )
    return unit, number


def _steady(stretch: Tumbling | Calendar) -> Tumbling | Calendar:
    """The stretches; without a zone if its clock changes by whole stretches: hours shown twice
    count twice.
    """
    if isinstance(stretch, Calendar) or not stretch.zone or stretch.zone.shift % stretch.size_us:
        return stretch
    return Tumbling(
        stretch.size_us,
        (stretch.align_us - stretch.zone.offsets[0]) % stretch.size_us,
        None,
        stretch.grace_us,
        said=stretch.said,
    )


def _whole_stretches(months: int, stretch: Tumbling | Calendar) -> int:
    if not isinstance(stretch, Calendar) or 2 * months % stretch.halves:
        raise DefinitionError(_misfit(f"months={months}", stretch))
    return 2 * months // stretch.halves


def _misfit(asked: str, stretch: Tumbling | Calendar) -> str:
    if isinstance(stretch, Calendar):
        apart = spell(stretch.shortest_us)
        return (
            f"every: windows of {asked} would overlap in parts of months; "
            f"give whole months, as months=2, or at most {apart}"
        )
    return (
        f'every: {asked} is no whole number of every="{spell(stretch.size_us)}"; '
        'give a part of it, as every="1h"; of months, months'
    )
