"""The common part of kinds that cut time into windows side by side. A kind adds the borders of its windows on the local clock."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Bounded
from muntin.windows.clock.instants import at_any_instant
from muntin.windows.clock.zones import borders_in_utc, first_shown, local_clock, local_windows
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.kinds import Cycle
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints
    from muntin.windows.clock.zones import Zone


class Gapless(Plain):
    """Every instant lies in exactly one window. Windows have numbers, the next window the next number."""

    __slots__ = ()

    zone: Zone | None

    @property
    def anchor(self) -> tuple[int, int]:
        """A width and a time: all borders lie whole widths apart from the time, on the local clock."""
        raise NotImplementedError

    def number_at(self, clock: Ints) -> Ints:
        """The number of the window in which each time of the local clock lies."""
        raise NotImplementedError

    def border_at(self, numbers: Ints) -> Ints:
        """The time of the local clock at which each window begins, by its number."""
        raise NotImplementedError

    def reach_us(self, count: int) -> int:
        """The length of so many windows, or more."""
        raise NotImplementedError

    @property
    def least_us(self) -> int:
        """The length of the shortest window, or less."""
        raise NotImplementedError

    @property
    def follows(self) -> Bounded:
        """A window depends on no event before its start."""
        return Bounded(self.reach_us(1))

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        """The windows tile the grid: see `every`."""
        return self.every

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - the width of a grid is its own
        """The widest frame that all borders are whole frames of."""
        return gcd(*self.anchor, self.zone.grain if self.zone else 0)

    @property
    def cycle(self) -> Cycle | None:
        """In a zone: between the times of UTC at which windows may begin."""
        return borders_in_utc(self.zone, *self.anchor) if self.zone else None

    def bounds(self, instants: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window that holds each instant."""
        return local_windows(instants, self.cut, self.zone) if self.zone else self.cut(instants)

    def cut(self, clock: Ints) -> tuple[Ints, Ints]:
        """The borders before and after each time of the local clock."""
        number = self.number_at(clock)
        return self.border_at(number), self.border_at(number + 1)

    def numbers(self, instants: Ints) -> Ints:
        """The number of the window that holds each instant."""
        return self.number_at(local_clock(self.bounds(instants)[0], self.zone) if self.zone else instants)

    def shown(self, clock: Ints) -> Ints:
        """The first instant at which the local clock shows each time or a later time."""
        return first_shown(clock, self.zone) if self.zone else clock

    def borders(self, numbers: Ints) -> Ints:
        """The start of each window, by its number."""
        return self.shown(self.border_at(numbers))

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """A state belongs to one window, or to none if that was closed before the state came."""
        from muntin.engine.event_time.disjoint import disjoint

        start, end = self.bounds(frames.start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    def earliest(self, after_us: int, until_us: int) -> int:
        """The start of the window that holds the first instant, if it ends in the stretch."""
        [(start, end)] = self.windows_for(after_us)
        return start if end <= until_us else AFTER_ALL

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
