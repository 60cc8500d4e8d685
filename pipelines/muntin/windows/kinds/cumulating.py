"""Cumulating windows (Flink's CUMULATE): they begin together, each a step longer than the window before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, Duration, spell
from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Bounded, Cycle
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import Alignment, at_any_instant
from muntin.windows.kind import Plain, with_rules
from muntin.windows.kinds.calendar import Calendar
from muntin.windows.kinds.right_closed import Closed, RightClosed, closed_at
from muntin.windows.kinds.sliding import check_overlap, steps_near
from muntin.windows.kinds.tumbling import Tumbling, side_by_side

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


@dataclass(frozen=True, slots=True)
class Cumulating(Plain):
    """Windows that begin with a window of `whole` and end with a window of `step` inside it."""

    whole: Tumbling | Calendar
    step: Tumbling | Calendar

    @property
    def grace_us(self) -> int:
        return self.whole.grace_us

    @property
    def follows(self) -> Bounded:
        return self.whole.follows

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    def frame_us(self, grid_us: int) -> int:
        return gcd(self.whole.frame_us(grid_us), self.step.frame_us(grid_us))

    @property
    def cycle(self) -> Cycle | None:
        whole, step = self.whole.cycle, self.step.cycle
        return step if whole and step and step.refines(whole) else None

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.prefixes import prefixes

        return prefixes(frames, self.whole.bounds, self.step.bounds, self.step.every, floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        [(start, end)] = self.whole.windows_for(instant_us)
        [(first, _)] = self.step.windows_for(instant_us)
        return [(start, int(border)) for border in self.step.every(first, end)[1]]

    def earliest(self, after_us: int, until_us: int) -> int:
        return (
            AFTER_ALL
            if self.step.earliest(after_us, until_us) == AFTER_ALL
            else self.whole.windows_for(after_us)[0][0]
        )

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        import numpy as np

        step_start, step_end = self.step.every(start_us, end_us)
        start, end = self.whole.bounds(step_start)[0], step_end
        inside: Ints = np.flatnonzero((start >= start_us) & (end <= end_us))
        return start[inside], end[inside]


def cumulating(
    max_size: Duration,
    *,
    step: Duration,
    align_to: Alignment = None,
    timezone: str | None = None,
    closed: Closed = "left",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> Cumulating | RightClosed:
    """The day so far every hour, the month so far every day: windows that begin together and end a step
    apart.

    Args:
        max_size: how long the longest window is, as "1d" or "1mo".
        step: how far apart windows end; divides `max_size`.
        align_to, timezone, closed, grace, allowed_lateness, having: as in `tumbling`.

    Raises:
        DefinitionError: a step that does not divide `max_size`, or is less than its 100,000th part; and all
            that `tumbling` refuses.
    """
    whole, part = side_by_side(max_size, align_to, timezone, grace), side_by_side(step, align_to, timezone)
    if not _divides(part, whole):
        raise DefinitionError(
            f"max_size must be a whole number of steps: {max_size} is not one of {step}; "
            f"{_legal(whole, part)}"
        )
    if isinstance(whole, Tumbling) and isinstance(part, Tumbling):
        part = replace(part, align_us=whole.align_us % part.size_us)
    check_overlap(
        "step",
        whole.follows.longest_us,
        part.shortest_us,
        DAY_US if isinstance(whole, Calendar) else whole.size_us,
    )
    return with_rules(closed_at(closed, Cumulating(whole, part)), having, allowed_lateness)


def _divides(part: Tumbling | Calendar, whole: Tumbling | Calendar) -> bool:
    if isinstance(part, Calendar):
        return isinstance(whole, Calendar) and whole.halves % part.halves == 0
    return (DAY_US if isinstance(whole, Calendar) else whole.size_us) % part.size_us == 0


def _legal(whole: Tumbling | Calendar, part: Tumbling | Calendar) -> str:
    """Steps that divide the whole, in words."""
    if isinstance(whole, Calendar) or isinstance(part, Calendar):
        return 'try a step of "1d" or a part of a day, or of months where max_size has months'
    return f"try step {', '.join(spell(us) for us in steps_near(whole.size_us, part.size_us))}"
