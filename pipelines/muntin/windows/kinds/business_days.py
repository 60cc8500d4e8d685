"""Business days: the days from Monday to Friday of a time zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US
from muntin.definition.kinds import Cycle
from muntin.errors import DefinitionError
from muntin.windows.clock import Alignment, Zone, alignment_us
from muntin.windows.gapless import WithHoles
from muntin.windows.kinds.tumbling import Tumbling

if TYPE_CHECKING:
    from muntin.states.frames import Ints

_FIRST, _DAYS = 3, 5  # 1970-01-01, day 0, was a Thursday; five days of a week from Monday on


@dataclass(frozen=True, slots=True)
class BusinessDays(WithHoles):
    """The days that begin on a Monday, Tuesday, Wednesday, Thursday or Friday."""

    stretch: Tumbling
    dense: bool = False

    def frame_us(self, grid_us: int) -> int:
        return self.stretch.frame_us(grid_us)

    @property
    def cycle(self) -> Cycle | None:
        return self.stretch.cycle

    def windows_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        import numpy as np

        start = self.stretch.borders(numbers)
        return start, np.where((numbers + _FIRST) % 7 < _DAYS, self.stretch.borders(numbers + 1), start)


def business_days(align_to: Alignment, where: Zone | None, grace_us: int, *, dense: bool) -> BusinessDays:
    """Windows of business days; see `tumbling`."""
    us = alignment_us(align_to, where)
    if align_to is not None and not (isinstance(align_to, str) and ":" in align_to):
        raise DefinitionError(
            f'align_to: {align_to} is no time of day at which a business day may begin; give one, as "17:00"'
        )
    return BusinessDays(Tumbling(DAY_US, us, where, grace_us), dense)
