"""Unique sliding windows (Kafka's KIP-450): a window for each distinct set of events within `size`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from muntin.definition.durations import Duration, not_negative, positive, spell
from muntin.definition.kinds import Bounded
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain, lateness

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints

On = Literal["change", "enter"]


@dataclass(frozen=True, slots=True)
class Unique(Plain):
    """Windows `[t - size, t]` for each distinct event time t, and `[t + r, t + r + size]` if it holds an
    event.

    r is the resolution. Both ends belong to a window.
    """

    size_us: int
    resolution_us: int = 1_000
    on: On = "change"
    grace_us: int = 0

    @property
    def inside_us(self) -> int:
        return self.resolution_us

    @property
    def beyond_us(self) -> int:
        return self.resolution_us

    @property
    def follows(self) -> Bounded:
        return Bounded(self.size_us + self.resolution_us)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - frames are as fine as the clock
        return self.resolution_us

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.unique import unique_ranges

        leaving = self.follows.reach_us if self.on == "change" else None
        cut = replace(frames, start=frames.start // self.resolution_us * self.resolution_us)
        return unique_ranges(cut, self.size_us, self.resolution_us, leaving, floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        t = instant_us // self.resolution_us * self.resolution_us
        return [(t - self.size_us, t)]

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        return self.windows_for(low_us)[0][1], self.windows_for(high_us)[0][1] + self.follows.reach_us


def unique_sliding(
    size: Duration,
    *,
    resolution: Duration = "1ms",
    on: On = "change",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> Unique:
    """A window of `size` that slides over time: one result for each different set of events in it.

    Args:
        size: from the first instant of a window to its last; both belong to it.
        resolution: event times are cut down to multiples of it. `size` is a whole number of resolutions.
        on: "change": a window whenever an event enters or leaves (KIP-450); "enter": a window for each
            distinct event time, the rolling value at each event (SQL's RANGE BETWEEN `size` PRECEDING AND
            CURRENT ROW).
        grace: how long after its end a window waits for late events.
        allowed_lateness: for how long after that late events revise the window, which is published already.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: a size or resolution that is not positive, a size that is not a whole number of
            resolutions, a negative grace, an unknown `on`.
    """
    if on not in get_args(On):
        raise DefinitionError(f'on: {on!r} is not understood; say "change" or "enter"')
    size_us, fine = positive(size, "size"), positive(resolution, "resolution")
    if size_us % fine:
        raise DefinitionError(
            f"size must be a whole number of resolutions: {spell(size_us)} is not one of {spell(fine)}; give "
            "a finer resolution"
        )
    return Unique(
        size_us, fine, on, not_negative(grace, "grace"), having=having, lateness_us=lateness(allowed_lateness)
    )
