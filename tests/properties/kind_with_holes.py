"""A kind that leaves instants out, ours and the oracle's: doors that are open for the first part of each stretch of time.

stretches     |              |              |
windows       [ open  )      [ open  )      [ open  )
an event                 x                                  lies in no window
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from muntin.definition.kinds import Bounded
from muntin.engine.assignment import Assignment
from muntin.engine.event_time.disjoint import disjoint
from muntin.states.frames import Frames, Ints
from muntin.windows.kind import Plain
from tests.catalogue.random_times import MINUTE, Drawn, grace, some


@dataclass(frozen=True)
class TheirDoors:
    """As the oracle has them."""

    stretch: int
    open: int
    grace: int = 0

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The window that holds `t`, if there is one."""
        start = t - t % self.stretch
        if t < start + self.open:
            yield start, start + self.open

    def closed(self, end: int, watermark: float) -> bool:
        """The first instant after the window is `end` itself."""
        return watermark >= end + self.grace


@dataclass(frozen=True, slots=True)
class Doors(Plain):
    """As a kind of ours would be written: `[n * stretch, n * stretch + open)`."""

    stretch_us: int
    open_us: int
    grace_us: int = 0
    dense: bool = False

    @property
    def follows(self) -> Bounded:
        return Bounded(self.open_us)

    @property
    def grid(self) -> Any:
        return self.every

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - its own width
        return int(np.gcd(self.stretch_us, self.open_us))

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        start = frames.start // self.stretch_us * self.stretch_us
        end = np.where(frames.start < start + self.open_us, start + self.open_us, start)
        return disjoint(frames, start, end, late=end <= floor[frames.batch])

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return list(TheirDoors(self.stretch_us, self.open_us).windows_for(instant_us))

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        start = np.arange(-(-start_us // self.stretch_us) * self.stretch_us, end_us - self.open_us + 1, self.stretch_us, dtype=np.int64)
        return start, start + self.open_us


def doors(dice: random.Random) -> Drawn:
    """Open for a part of some minutes."""
    stretch = dice.randint(2, 9)
    return some(dice, TheirDoors(stretch * MINUTE, dice.randint(1, stretch - 1) * MINUTE, grace(dice)))


def ours(theirs: TheirDoors) -> Doors:
    """The oracle's window as ours."""
    return Doors(theirs.stretch, theirs.open, theirs.grace)
