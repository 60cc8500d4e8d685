"""The last part of each stretch of time, as the last week of each month or the first minute of each hour."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.kinds import Cycle, Even
from muntin.windows.clock import borders_in_utc
from muntin.windows.gapless import WithHoles
from muntin.windows.kinds.calendar import Calendar
from muntin.windows.kinds.tumbling import Tumbling

if TYPE_CHECKING:
    from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True)
class LastPart(WithHoles):
    """`[end - part, end)` of each stretch, on its clock; `part_us` is no longer than any stretch."""

    stretch: Tumbling | Calendar
    part_us: int
    dense: bool = False

    @property
    def even(self) -> Even | None:
        grid = self.stretch.even
        return Even(self.part_us, grid.step_us, grid.align_us) if grid else None

    @property
    def anchor(self) -> tuple[int, int]:
        """A width and a time: on the local clock, borders and beginnings lie whole widths from the time."""
        width_us, at = self.stretch.anchor
        common = gcd(width_us, self.part_us)
        return common, at % common

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - the width of a grid is its own
        zone = self.stretch.zone
        return gcd(*self.anchor, zone.grain if zone else 0)

    @property
    def cycle(self) -> Cycle | None:
        return borders_in_utc(self.stretch.zone, *self.anchor) if self.stretch.zone else None

    def windows_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        end = self.stretch.border_at(numbers + 1)
        return self.stretch.shown(end - self.part_us), self.stretch.shown(end)
