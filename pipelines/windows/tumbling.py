"""Tumbling windows: time cut into pieces of one size, by UTC or by the calendar of a time zone."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from pipelines.definition.durations import DAY_US, Duration, not_negative, positive
from pipelines.windows.alignment import Alignment, alignment_us
from pipelines.windows.zones import Zone, local_windows, zone

if TYPE_CHECKING:
    from pipelines.engine.frames import Frames
    from pipelines.windows.kind import Assignment, Ints


@dataclass(frozen=True, slots=True)
class Tumbling:
    """`[start, start + size)`; days and longer follow the zone's calendar (a day may have 23 or 25 hours)."""

    size_us: int
    align_us: int = 0
    zone: Zone | None = None
    grace_us: int = 0

    ends_inside = False
    event_times = False
    margin_us = 0

    @property
    def reach_us(self) -> int:
        return self.size_us + (DAY_US if self.zone else 0)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - the width of a grid is its own
        return gcd(self.size_us, self.align_us, self.zone.grain if self.zone else 0)

    def bounds(self, instants: Ints) -> tuple[Ints, Ints]:
        """Start and end of the window that holds each instant."""
        if self.zone:
            return local_windows(instants, self.size_us, self.align_us, self.zone)
        start = (instants - self.align_us) // self.size_us * self.size_us + self.align_us
        return start, start + self.size_us

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from pipelines.engine.labels import disjoint

        start, end = self.bounds(frames.start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        import numpy as np

        start, end = self.bounds(np.array([instant_us], np.int64))
        return [(int(start[0]), int(end[0]))]


def tumbling(size: Duration, *, align_to: Alignment = None, timezone: str | None = None, grace: Duration = 0) -> Tumbling:
    """Windows of one size, side by side.

    Args:
        size: how long a window is, as "15m" or "1d".
        align_to: a border of the grid: a time of day ("23:59"), a weekday ("monday") or an aware datetime;
            midnight of 1970-01-01, a Thursday, unless said.
        timezone: the IANA name of the zone whose clock cuts the windows; UTC unless said.
        grace: how long after its end a window waits for late events.

    Raises:
        DefinitionError: a size that is not positive, a negative grace, an unknown zone or alignment.
    """
    size_us = positive(size, "size")
    return Tumbling(size_us, alignment_us(align_to) % size_us, zone(timezone) if timezone else None, not_negative(grace, "grace"))
