"""Windows on a grid of ends: the ranges of sliding windows, and the late states that count in some of them only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from pipelines.engine.assignment import Assignment
from pipelines.engine.event_time.late_pairs import joined, spread
from pipelines.states.frames import run_numbers, run_starts

if TYPE_CHECKING:
    from pipelines.states.frames import Frames, Ints


def sliding_ranges(frames: Frames, first_end: Ints, size: int, step: int, floor: Ints) -> Assignment:
    """Every window of `size` on a grid of `step` that holds a state.

    Args:
        frames: the states.
        first_end: for each state, the end of the earliest window that holds its frame.
        size, step: of the windows, microseconds; size is a whole number of steps.
        floor: for each state, the instant up to which windows were closed before it came.

    A state whose earliest window was still open lies in every window over its frame: those form the ranges. The few
    that missed some windows are paired with the windows that they still reach.
    """
    last_end = first_end + (size - step)
    open_from = np.maximum(first_end, first_end + ((floor - first_end) // step + 1) * step)
    missed = (np.minimum(open_from, last_end + step) - first_end) // step
    on_time = np.flatnonzero(missed == 0)
    group, end, lo, mid, hi = _ranges(frames.group[on_time], frames.start[on_time], first_end[on_time], size, step)
    late = np.flatnonzero((missed > 0) & (open_from <= last_end))
    pair_row, within = spread(late, (last_end[late] - open_from[late]) // step + 1)
    block = run_numbers(frames.group[on_time], frames.start[on_time] // size)
    plain = Assignment(on_time, block, group, end - size, end, lo, mid, hi, pair_row[:0], pair_row[:0], missed)
    if not len(pair_row):
        return plain
    pair_end = open_from[pair_row] + within * step
    return joined(plain, frames.group, pair_row, pair_end - size, pair_end)


def _ranges(group: Ints, start: Ints, first_end: Ints, size: int, step: int) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    heads = np.flatnonzero(run_starts(group, first_end))
    tails = np.append(heads[1:], len(group))
    until = first_end[heads] + size
    same = group[heads[1:]] == group[heads[:-1]] if len(heads) else np.empty(0, bool)
    until[:-1] = np.where(same, np.minimum(until[:-1], first_end[heads[1:]]), until[:-1])
    counts = (until - first_end[heads]) // step
    return _two_pointers(group, start, first_end, heads, tails, counts, int(counts.sum()), size, step)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _two_pointers(group, start, first_end, heads, tails, counts, total, size, step):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Follow the trailing edge and the block border of each window along the rows, once."""
    owner, end = np.empty(total, np.int64), np.empty(total, np.int64)
    lo, mid, hi = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    window = trailing = border = 0
    for bucket in range(len(heads)):
        head, tail = heads[bucket], tails[bucket]
        if bucket == 0 or group[head] != group[head - 1]:
            trailing = border = head
        for position in range(counts[bucket]):
            window_end = first_end[head] + position * step
            window_start = window_end - size
            block_start = -((-window_start) // size) * size
            while start[trailing] < window_start:
                trailing += 1
            border = max(border, trailing)
            while border < tail and start[border] < block_start:
                border += 1
            owner[window], end[window] = group[head], window_end
            lo[window], mid[window], hi[window] = trailing, border, tail
            window += 1
    return owner, end, lo, mid, hi
