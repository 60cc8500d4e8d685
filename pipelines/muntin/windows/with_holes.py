"""The common part of kinds that cut time into stretches, and have a window in a part of each, or in some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.windows.clock.instants import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.kinds import Bounded
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints
    from muntin.windows.gapless import Gapless


class WithHoles(Plain):
    """At most one window in each stretch of time; an event that lies in none is late for nothing."""

    __slots__ = ()

    stretch: Gapless

    def windows_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window in each stretch, by its number; equal where there is none."""
        raise NotImplementedError

    @property
    def grace_us(self) -> int:
        """The grace of the stretches."""
        return self.stretch.grace_us  # type: ignore[attr-defined,no-any-return]

    @property
    def follows(self) -> Bounded:
        """A window is no longer than its stretch."""
        return self.stretch.follows

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        """The windows lie on a grid, with holes: see `every`."""
        return self.every

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """A state belongs to the window of its stretch, or to none."""
        import numpy as np

        from muntin.engine.event_time.disjoint import disjoint

        start, end = self.windows_of(self.stretch.numbers(frames.start))
        end = np.where((frames.start >= start) & (frames.start < end), end, start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The window that holds an instant, if there is one."""
        import numpy as np

        (start,), (end,) = self.windows_of(self.stretch.numbers(np.array([instant_us], np.int64)))
        return [(int(start), int(end))] if start <= instant_us < end else []

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        """Start and end of every window in `[start_us, end_us)`."""
        import numpy as np

        low, high = self.stretch.numbers(np.array([start_us, end_us], np.int64))
        start, end = self.windows_of(np.arange(low, high + 1))
        inside = np.flatnonzero((start < end) & (start >= start_us) & (end <= end_us))
        return start[inside], end[inside]
