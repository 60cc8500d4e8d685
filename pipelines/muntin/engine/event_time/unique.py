"""Unique sliding windows: a window ends at each distinct time of a key, and another begins just behind it.

    times             a     b            c
    windows        [------- a ]                      ends at a time: it "asks" for this window
                         [------- b ]
                                      [------- c ]
                       ( a  ------------]            begins when a has just left; kept if a state lies in it

Times are whole resolutions. A window `[end - size, end]` holds both ends, so it is `size + resolution` long.
"""

from __future__ import annotations

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, compiled, run_numbers


def unique_ranges(frames: Frames, size: int, resolution: int, leaving: int | None, floor: Ints) -> Assignment:
    """The windows `[end - size, end]` that hold a state, for the ends that the states' times ask for.

    A late state counts in the windows that were still open, and asks for none that was closed.

    `frames`: the states, `resolution` wide: a state is one time. `size`, `resolution`: of the windows,
    microseconds. `leaving`: from a time to the end of the window that begins just behind it; None: no such
    windows. `floor`: for each state, the end up to which windows were closed before it came.

    Returns the windows; `missed` counts the windows that a state would have asked for, one or two.
    """
    late = frames.start <= floor
    on_time, late_rows = np.flatnonzero(~late), np.flatnonzero(late)
    group, time = frames.group[on_time], frames.start[on_time]
    asked = _asked(frames.group, frames.start, floor, leaving)
    lo, mid, hi = _ranges(group, time, *asked, size, size + resolution)
    pair_window, pair_row = _late_pairs(frames, late_rows, asked, size, floor)
    missed = late.astype(np.int64) + (
        0 if leaving is None else late & (frames.start + (leaving or 0) <= floor)
    )
    holds = hi > lo
    holds[pair_window] = True
    number = np.cumsum(holds) - 1
    pairs = np.lexsort((pair_row, pair_window))
    block = run_numbers(group, time // (size + resolution))
    all_hold = holds.all()
    owner, end, lo, mid, hi = (each if all_hold else each[holds] for each in (*asked, lo, mid, hi))
    return Assignment(
        on_time,
        block,
        owner,
        end - size,
        end,
        lo,
        mid,
        hi,
        number[pair_window[pairs]],
        pair_row[pairs],
        missed,
    )


def _late_pairs(
    frames: Frames, late_rows: Ints, asked: tuple[Ints, Ints], size: int, floor: Ints
) -> tuple[Ints, Ints]:
    """Pairs (place in `asked`, late row): windows that hold the row and were open when it came."""
    open_from = np.maximum(frames.start[late_rows], floor[late_rows] + 1)
    behind = frames.start[late_rows] + size + 1
    first, stop = (_places(asked, frames.group[late_rows], ends) for ends in (open_from, behind))
    counts = np.maximum(stop - first, 0)
    pair_row, nth = repeated(late_rows, counts)
    return np.repeat(first, counts) + nth, pair_row


def _asked(group: Ints, time: Ints, floor: Ints, leaving: int | None) -> tuple[Ints, Ints]:
    """(group, end) of every window that a state asks for, open when it came; sorted, each once."""
    owner, end = np.empty(2 * len(group), np.int64), np.empty(2 * len(group), np.int64)
    count = _merged(group, time, floor, -1 if leaving is None else leaving, owner, end)
    return owner[:count], end[:count]


@compiled
def _merged(group, time, floor, leaving, owner, end):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Merge the ends at states' times with the ends `leaving` later, if not -1; returns how many."""
    rows, count = len(group), 0
    now, later = 0, 0 if leaving >= 0 else rows
    while True:
        while now < rows and time[now] <= floor[now]:
            now += 1
        while later < rows and time[later] + leaving <= floor[later]:
            later += 1
        if now == rows and later == rows:
            return count
        is_now = later == rows
        if now < rows and later < rows:
            is_now = group[now] < group[later] or (
                group[now] == group[later] and time[now] <= time[later] + leaving
            )
        owner[count], end[count] = (
            (group[now], time[now]) if is_now else (group[later], time[later] + leaving)
        )
        now, later = now + is_now, later + (not is_now)
        if count == 0 or owner[count] != owner[count - 1] or end[count] != end[count - 1]:
            count += 1


@compiled
def _places(asked, group, end):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The place of each (group, end) in the sorted windows, by bisection."""
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


@compiled
def _ranges(group, time, owner, end, size, length):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Lo, mid and hi of each window, by pointers along the rows; blocks begin at multiples of `length`."""
    lo, mid, hi = np.empty(len(end), np.int64), np.empty(len(end), np.int64), np.empty(len(end), np.int64)
    tail = first_row = border = behind = 0
    for window in range(len(end)):
        if window == 0 or owner[window] != owner[window - 1]:
            while tail < len(group) and group[tail] < owner[window]:
                tail += 1
            first_row = border = behind = tail
            while tail < len(group) and group[tail] == owner[window]:
                tail += 1
        start = end[window] - size
        second_block = -((-start) // length) * length
        while first_row < tail and time[first_row] < start:
            first_row += 1
        while behind < tail and time[behind] <= end[window]:
            behind += 1
        border = max(border, first_row)
        while border < behind and time[border] < second_block:
            border += 1
        lo[window], mid[window], hi[window] = first_row, border, max(first_row, behind)
    return lo, mid, hi
