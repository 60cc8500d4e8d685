"""Unique sliding windows: candidates from the distinct times of a key, and the range of states of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from pipelines.engine.assignment import Assignment
from pipelines.engine.event_time.late_pairs import spread
from pipelines.states.frames import run_numbers, run_starts, sorted_order

if TYPE_CHECKING:
    from pipelines.states.frames import Frames, Ints


def unique_ranges(frames: Frames, size: int, resolution: int, leaving: int | None, floor: Ints) -> Assignment:
    """The windows `[end - size, end]` that hold a state, for the ends that the states' times ask for.

    Args:
        frames: the states, `resolution` wide: a state is one time.
        size, resolution: of the windows, microseconds.
        leaving: how long after a time the window ends that begins when it has just left; None: these are not wanted.
        floor: for each state, the end up to which windows were closed before it came. A state neither counts in those
            nor asks for them; of those that it would have asked for it has missed one or both.
    """
    late = frames.start <= floor
    on_time = np.flatnonzero(~late)
    group, time = frames.group[on_time], frames.start[on_time]
    asked = _ends(frames.group, frames.start, floor, leaving)
    lo, mid, hi = _ranges(group, time, *asked, size, size + resolution)
    rows = np.flatnonzero(late)
    reach_from = np.maximum(frames.start[rows], floor[rows] + 1)
    first, after = (_place(asked, frames.group[rows], ends) for ends in (reach_from, frames.start[rows] + size + 1))
    reached = np.maximum(after - first, 0)
    pair_row, within = spread(rows, reached)
    pair_window = np.repeat(first, reached) + within
    missed = late.astype(np.int64) + (0 if leaving is None else late & (frames.start + (leaving or 0) <= floor))
    holds = hi > lo
    holds[pair_window] = True
    number = np.cumsum(holds) - 1
    pairs = np.lexsort((pair_row, pair_window))
    block = run_numbers(group, time // (size + resolution))
    owner, end = asked[0][holds], asked[1][holds]
    return Assignment(
        on_time, block, owner, end - size, end, lo[holds], mid[holds], hi[holds], number[pair_window[pairs]], pair_row[pairs], missed
    )


def _ends(group: Ints, time: Ints, floor: Ints, leaving: int | None) -> tuple[Ints, Ints]:
    """(group, end) of every window that a state asks for and that was open when it came, each once, sorted."""
    owners, ends = [], []
    for beyond in (0,) if leaving is None else (0, leaving):
        rows = np.flatnonzero(time + beyond > floor)
        rows = rows[run_starts(group[rows], time[rows])]
        owners.append(group[rows])
        ends.append(time[rows] + beyond)
    owner, end = np.concatenate(owners), np.concatenate(ends)
    order = sorted_order(owner, end)
    owner, end = owner[order], end[order]
    once = run_starts(owner, end)
    return owner[once], end[once]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _place(asked, group, end):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Where in the sorted windows the first one is that lies at or after (group, end)."""
    owner, ends = asked
    places = np.empty(len(group), np.int64)
    for at in range(len(group)):
        low, high = 0, len(owner)
        while low < high:
            middle = (low + high) // 2
            if owner[middle] < group[at] or (owner[middle] == group[at] and ends[middle] < end[at]):
                low = middle + 1
            else:
                high = middle
        places[at] = low
    return places


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ranges(group, time, owner, end, size, length):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Follow both edges and the block border of each window along the rows, once. Blocks lie on multiples of `length`."""
    lo, mid, hi = np.empty(len(end), np.int64), np.empty(len(end), np.int64), np.empty(len(end), np.int64)
    head = trailing = border = leading = 0
    for window in range(len(end)):
        if window == 0 or owner[window] != owner[window - 1]:
            while head < len(group) and group[head] < owner[window]:
                head += 1
            trailing = border = leading = head
            while head < len(group) and group[head] == owner[window]:
                head += 1
        start = end[window] - size
        block = -((-start) // length) * length
        while trailing < head and time[trailing] < start:
            trailing += 1
        while leading < head and time[leading] <= end[window]:
            leading += 1
        border = max(border, trailing)
        while border < leading and time[border] < block:
            border += 1
        lo[window], mid[window], hi[window] = trailing, border, max(trailing, leading)
    return lo, mid, hi
