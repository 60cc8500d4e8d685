"""The common part of kinds that cut time into windows side by side. A kind adds the bounds of its windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.windows.clock.instants import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.kinds import Bounded
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints


class Gapless(Plain):
    """Every instant lies in exactly one window."""

    __slots__ = ()

    def bounds(self, instants: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window that holds each instant."""
        raise NotImplementedError

    @property
    def least_us(self) -> int:
        """The length of the shortest window, or less."""
        raise NotImplementedError

    @property
    def follows(self) -> Bounded:
        """A window depends on no event before its start."""
        raise NotImplementedError

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        """The windows tile the grid: see `every`."""
        return self.every

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """A state belongs to one window, or to none if that was closed before the state came."""
        from muntin.engine.event_time.disjoint import disjoint

        start, end = self.bounds(frames.start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The window that holds an instant."""
        import numpy as np

        start, end = self.bounds(np.array([instant_us], np.int64))
        return [(int(start[0]), int(end[0]))]

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        """Start and end of every window in `[start_us, end_us)`; `start_us` is the start of a window."""
        import numpy as np

        start, end = self.bounds(np.arange(start_us, end_us, self.least_us, dtype=np.int64))
        first = np.unique(start, return_index=True)[1]
        return start[first], end[first]
