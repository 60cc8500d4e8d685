"""All of time: one window per key. It never closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US
from muntin.definition.kinds import FrameStates, Unending
from muntin.engine.assignment import Assignment
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


@dataclass(frozen=True, slots=True)
class AllTime(Plain):
    """One window from a key's first event to its last; provisional for ever."""

    grace_us = 0
    beyond_us = 1
    follows = Unending()
    made_of = FrameStates(event_times=True)

    def frame_us(self, grid_us: int) -> int:
        return grid_us or DAY_US

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        import numpy as np

        from muntin.engine.event_time.disjoint import labelled
        from muntin.states.frames import run_numbers, run_starts

        heads = np.flatnonzero(run_starts(frames.group))
        start, end = (
            reduce.reduceat(times, heads) if len(heads) else times
            for reduce, times in ((np.minimum, frames.first), (np.maximum, frames.last))
        )
        never = np.full(len(heads), len(floor) - 1)
        return labelled(frames, run_numbers(frames.group), start, end, closings=(never, never))

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us)]


def all_time(*, having: str | None = None) -> AllTime:
    """One window per key over all its events, from the first to the last.

    It never closes, so nothing is published: `read(..., provisional=True)` shows it, combined from the
    checkpoint.

    Args:
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.
    """
    return AllTime(having=having)
