"""The common parts of kinds that cut time into stretches: a window in each stretch, or in parts of some."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Bounded, Cycle
from muntin.engine.assignment import Assignment
from muntin.windows.clock import Zone, at_any_instant, borders_in_utc, first_shown, local_clock, local_windows
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


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
        return Bounded(self.reach_us(1))

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - the width of a grid is its own
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
        from muntin.engine.event_time.disjoint import disjoint

        start, end = self.bounds(frames.start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    def earliest(self, after_us: int, until_us: int) -> int:
        """The start of the window that holds the first instant, if it ends in the stretch."""
        [(start, end)] = self.windows_for(after_us)
        return start if end <= until_us else AFTER_ALL

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        import numpy as np

        start, end = self.bounds(np.array([instant_us], np.int64))
        return [(int(start[0]), int(end[0]))]

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        """Start and end of every window in `[start_us, end_us)`; `start_us` is the start of a window."""
        import numpy as np

        start, end = self.bounds(np.arange(start_us, end_us, self.least_us, dtype=np.int64))
        first = np.unique(start, return_index=True)[1]
        return start[first], end[first]


class WithHoles(Plain):
    """At most one window in each stretch of time; an event that lies in none is late for nothing."""

    __slots__ = ()

    stretch: Gapless

    def windows_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window in each stretch, by its number; equal where there is none."""
        raise NotImplementedError

    @property
    def grace_us(self) -> int:
        return self.stretch.grace_us  # type: ignore[attr-defined,no-any-return]

    @property
    def follows(self) -> Bounded:
        return self.stretch.follows

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]]:
        return self.every

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        import numpy as np

        from muntin.engine.event_time.disjoint import disjoint

        start, end = self.windows_of(self.stretch.numbers(frames.start))
        end = np.where((frames.start >= start) & (frames.start < end), end, start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
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
