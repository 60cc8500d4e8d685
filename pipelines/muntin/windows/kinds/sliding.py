"""Sliding windows (Hazelcast Jet's; hopping in Kafka and Flink): one window of a size every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, UNITS, Duration, not_negative, positive, spell
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded, Even
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import Alignment, alignment_us, at_any_instant
from muntin.windows.kind import Plain, with_rules
from muntin.windows.kinds.last_part import LastPart
from muntin.windows.kinds.right_closed import Closed, RightClosed, closed_at
from muntin.windows.kinds.tumbling import Tumbling

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


MOST = 100_000
"""So many windows may hold one event."""


@dataclass(frozen=True, slots=True)
class Sliding(Plain):
    """Windows `[start, start + size)` for every start on the grid of steps, if the window holds an event."""

    size_us: int
    step_us: int
    align_us: int = 0
    grace_us: int = 0
    dense: bool = False

    @property
    def follows(self) -> Bounded:
        return Bounded(self.size_us)

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    @property
    def even(self) -> Even:
        return Even(self.size_us, self.step_us, self.align_us)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - the width of a grid is its own
        return gcd(self.step_us, self.align_us)

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        return self.assign_between(frames, floor, BEFORE_ALL, AFTER_ALL)

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:
        from muntin.engine.event_time.grid import sliding_ranges

        first_end = (
            (frames.start - self.align_us) // self.step_us * self.step_us + self.align_us + self.step_us
        )
        return sliding_ranges(
            frames, first_end, self.size_us, self.step_us, floor[frames.batch], (after_us, until_us)
        )

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        first = (instant_us - self.align_us) // self.step_us * self.step_us + self.align_us + self.step_us
        return [(end - self.size_us, end) for end in range(first, first + self.size_us, self.step_us)]

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        import numpy as np

        first = (
            start_us + (self.align_us - self.size_us - start_us) % self.step_us
        )  # where windows leave gaps, no window may begin there
        start = np.arange(first, end_us - self.size_us + 1, self.step_us, dtype=np.int64)
        return start, start + self.size_us


def sliding(
    size: Duration,
    *,
    step: Duration,
    align_to: Alignment = None,
    gaps: bool = False,
    timezone: str | None = None,
    closed: Closed = "left",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    dense: bool = False,
    having: str | None = None,
) -> Sliding | LastPart | RightClosed:
    """A window of `size` every `step`; an event belongs to size / step of them.

    Args:
        size: how long a window is, a whole number of steps; or less than a step, with `gaps`.
        step: how far apart windows begin.
        align_to: a border of the grid of steps (see `tumbling`), at which a window begins.
        gaps: whether windows may be shorter than a step, so that events between them belong to none.
        timezone: refused, with the name of what follows a clock: a zone's days may be 23 or 25 hours long.
        closed: as in `tumbling`.
        grace: how long after its end a window waits for late events.
        allowed_lateness: for how long after that late events revise the window, which is published already.
        dense: whether `read` adds the empty windows between a key's first and last window, unless its caller
            decides otherwise.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: a time zone; a size that is not a whole number of steps, or shorter than a step
            without `gaps`, or more than 100,000 steps; a step or size that is not positive, a negative grace,
            an unknown `closed`.
    """
    size_us, step_us, align_us, grace_us = (
        positive(size, "size"),
        positive(step, "step"),
        alignment_us(align_to),
        not_negative(grace, "grace"),
    )
    if timezone is not None:
        raise DefinitionError(_of_a_clock(timezone, size_us, step_us))
    if gaps and size_us < step_us:
        whole = Tumbling(step_us, (align_us + size_us) % step_us, None, grace_us, said=spell(step_us))
        return with_rules(closed_at(closed, LastPart(whole, size_us, dense)), having, allowed_lateness)
    if size_us < step_us and not gaps:
        raise DefinitionError(
            f"step: {spell(step_us)} is longer than the size, {spell(size_us)}, so that events between "
            "windows would belong to none; "
            "say gaps=True if they shall not, or give a step that divides the size"
        )
    if size_us % step_us:
        *others, last = (spell(legal) for legal in steps_near(size_us, step_us))
        legal = f"{', '.join(others)} or {last}" if others else last
        raise DefinitionError(
            f"size must be a whole number of steps: {spell(size_us)} / {spell(step_us)} = "
            f"{size_us / step_us:.4g}; try step {legal}"
        )
    check_overlap("step", size_us, step_us, size_us)
    return with_rules(
        closed_at(closed, Sliding(size_us, step_us, align_us % step_us, grace_us, dense)),
        having,
        allowed_lateness,
    )


def check_overlap(what: str, longest_us: int, step_us: int, whole_us: int) -> None:
    """Refuse windows of which one event would lie in more than `MOST`: each is a row.

    `what`: the name of the argument that says how far apart they end. `longest_us`, `step_us`: how long a
    window is at most, and how far apart windows end. `whole_us`: a length that each possible step divides.
    """
    if longest_us // step_us <= MOST:
        return
    parts = MOST * whole_us // longest_us
    least_us = next((whole_us // count for count in range(parts, 0, -1) if whole_us % count == 0), longest_us)
    raise DefinitionError(
        f"{what}: {spell(step_us)} is too short: an event would lie in {longest_us // step_us:,} windows, a "
        f"row each, and {MOST:,} are "
        f'possible; give a longer one, as {what}="{spell(least_us)}"'
    )


def _of_a_clock(timezone: str, size_us: int, step_us: int) -> str:
    """The error for sliding windows of a time zone: the name of trailing windows, which follow a clock."""
    days, rest = divmod(size_us, DAY_US)
    far = f"days={days}" if not rest else f"hours={size_us // UNITS['h']}"
    return (
        f"timezone: sliding windows are of one length, which days of {timezone} are not; "
        f'for windows that end by its clock give windows.trailing({far}, every="{spell(step_us)}", '
        f"timezone={timezone!r})"
    )


def steps_near(size_us: int, step_us: int) -> list[int]:
    """The four steps nearest to `step_us` that divide the size, in the largest unit that divides both."""
    unit = next(u for u in sorted(UNITS.values(), reverse=True) if size_us % u == 0 and step_us % u == 0)
    whole = size_us // unit
    legal = [n for n in range(1, min(whole, 100_000) + 1) if whole % n == 0]
    return [n * unit for n in sorted(sorted(legal, key=lambda n: abs(n * unit - step_us))[:4])]
