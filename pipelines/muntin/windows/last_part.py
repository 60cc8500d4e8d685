"""The last part of each stretch of time: the last week of each month, the first minute of each hour, told by its end."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from muntin.definition.kinds import Cycle, Even
from muntin.windows.calendar import Calendar
from muntin.windows.clock import borders_in_utc
from muntin.windows.gapless import WithHoles
from muntin.windows.tumbling import Tumbling

if TYPE_CHECKING:
    from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True)
class LastPart(WithHoles):
    """`[end - part, end)` for the end of each stretch, on the clock that cuts the stretches; `part_us` is no longer than any of them."""

    stretch: Tumbling | Calendar
    part_us: int
    dense: bool = False

    @property
    def even(self) -> Even | None:
        grid = self.stretch.even
        return Even(self.part_us, grid.step_us, grid.align_us) if grid else None

    @property
    def anchor(self) -> tuple[int, int]:
        """A width and a time: borders of stretches and beginnings of windows lie whole widths apart from the time, on the local clock."""
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
