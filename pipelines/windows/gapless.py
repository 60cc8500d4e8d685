"""What kinds have in common that cut time into windows side by side: their bounds say everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.windows.by_time import ByTime
from pipelines.windows.instants import at_any_instant

if TYPE_CHECKING:
    from pipelines.engine.frames import Frames
    from pipelines.windows.kind import Assignment, Ints


class Gapless(ByTime):
    """Every instant lies in exactly one window."""

    __slots__ = ()

    def bounds(self, instants: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window that holds each instant."""
        raise NotImplementedError

    @property
    def least_us(self) -> int:
        """No window is shorter."""
        raise NotImplementedError

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """Each state lies in one window, unless that was closed before it came."""
        from pipelines.engine.labels import disjoint

        start, end = self.bounds(frames.start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The one window that holds an instant."""
        import numpy as np

        start, end = self.bounds(np.array([instant_us], np.int64))
        return [(int(start[0]), int(end[0]))]

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        """The ends of the first and the last window that a change of events between two instants may touch."""
        return self.windows_for(low_us)[0][1], self.windows_for(high_us)[0][1]

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        """Start and end of every window in `[start_us, end_us)`, which begins with one."""
        import numpy as np

        start, end = self.bounds(np.arange(start_us, end_us, self.least_us, dtype=np.int64))
        first = np.unique(start, return_index=True)[1]
        return start[first], end[first]
