"""All of time: one window per key, which never closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.definition.durations import DAY_US
from pipelines.windows.by_time import ByTime
from pipelines.windows.instants import at_any_instant

if TYPE_CHECKING:
    from pipelines.engine.frames import Frames
    from pipelines.windows.kind import Assignment, Ints


@dataclass(frozen=True, slots=True)
class AllTime(ByTime):
    """From a key's first event to its last; provisional for ever."""

    grace_us = 0
    reach_us = 0

    @property
    def event_times(self) -> bool:
        return True

    def frame_us(self, grid_us: int) -> int:
        return grid_us or DAY_US

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        import numpy as np

        from pipelines.engine.frames import run_numbers, run_starts
        from pipelines.engine.labels import labelled

        heads = np.flatnonzero(run_starts(frames.group))
        start, end = (
            reduce.reduceat(times, heads) if len(heads) else times
            for reduce, times in ((np.minimum, frames.first), (np.maximum, frames.last))
        )
        return labelled(frames, run_numbers(frames.group), start, end, closed=np.full(len(heads), len(floor) - 1))

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us)]

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        return low_us, high_us


def all_time() -> AllTime:
    """One window per key over everything that ever came, from the first event to the last.

    It never closes, so nothing is published: `read(..., provisional=True)` shows it, combined from the checkpoint.
    """
    return AllTime()
