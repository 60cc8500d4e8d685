"""Sliding windows: the rows of each window on a grid of ends.

rows (frames)     0    1    2    3    4    5    6    7      sorted by time
blocks         |--------------|--------------|-----------   as long as a window; multiples of `size`
a window                 [ lo  mid        hi )              row mid is the first row of its second block
next window                   [ lo  ...        hi )         one step later: both ends move on, never back
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.engine.assignment import Assignment
from muntin.engine.event_time.prefixes import with_late_states
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, compiled_for_many, run_numbers, run_starts

_ALL = (BEFORE_ALL, AFTER_ALL)


def sliding_ranges(
    frames: Frames, first_end: Ints, size: int, step: int, floor: Ints, ends: tuple[int, int] = _ALL
) -> Assignment:
    """Every window of `size` on a grid of `step` that holds a state, if its end is wanted.

        the windows over a state's frame end at    first_end   +step   +step   last_end
        when the state came, windows were            closed   closed    open     open
                                                     (missed = 2)     open_from

    A state that missed no window is part of the ranges. A late state is paired with the windows from
    `open_from` on.

    `frames`: the states. `first_end`: for each state, the end of the earliest window that holds its frame.
    `size`, `step`: of the windows, microseconds; size is a whole number of steps. `floor`: for each state,
    the instant up to which windows were closed before it came. `ends`: the windows that end after the first
    instant and up to the second are wanted. `missed` counts all windows.
    """
    closed = np.flatnonzero(floor >= first_end)  # states that came when their first window was closed
    first, last_end = first_end[closed], first_end[closed] + (size - step)
    open_from = _after(floor[closed], first, step)
    missed = np.zeros(len(first_end), np.int64)
    missed[closed] = (np.minimum(open_from, last_end + step) - first) // step
    windows = _windows_on_time(frames, first_end, size, step, missed, ends)
    open_from, last_end = np.maximum(open_from, _after(ends[0], first, step)), np.minimum(last_end, ends[1])
    late = np.flatnonzero(open_from <= last_end)
    if not len(late):
        return windows
    pair, nth = repeated(late, (last_end[late] - open_from[late]) // step + 1)
    pair_end = open_from[pair] + nth * step
    return with_late_states(windows, frames.group, closed[pair], pair_end - size, pair_end)


def sliding_numbers(
    frames: Frames, number: Ints, size: int, floor: Ints, borders: Callable[[Ints], Ints]
) -> Assignment:
    """Every window over `size` neighbouring stretches of a calendar that holds a state.

    Stretches such as months have unequal lengths: their numbers stand in for time, and become time again at
    the end.

    `frames`: the states. `number`: for each state, the number of the stretch that holds its frame. `size`: of
    the windows, in stretches. `floor`: for each state, the number of the stretch that holds the instant up to
    which windows were closed before it came. `borders`: from numbers to the instants at which the stretches
    begin.
    """
    windows = sliding_ranges(replace(frames, start=number), number + 1, size, 1, floor)
    return replace(windows, start=borders(windows.start), end=borders(windows.end))


def _after(instant: Ints | int, first_end: Ints, step: int) -> Ints:
    """The first place after an instant on the grid of each row, which may lie before the row's first end."""
    return first_end + ((instant - first_end) // step + 1) * step  # type: ignore[return-value]


def _windows_on_time(
    frames: Frames, first_end: Ints, size: int, step: int, missed: Ints, ends: tuple[int, int]
) -> Assignment:
    """The windows over the states that missed none."""
    on_time = np.flatnonzero(missed == 0)
    all_are = len(on_time) == len(frames)
    group, start, first_end = (
        each if all_are else each[on_time] for each in (frames.group, frames.start, first_end)
    )
    block = run_numbers(group, start // size)
    group, end, lo, mid, hi = _ranges(group, start, first_end, size, step, ends)
    no_pairs = on_time[:0]
    return Assignment(on_time, block, group, end - size, end, lo, mid, hi, no_pairs, no_pairs, missed)


def _ranges(
    group: Ints, start: Ints, first_end: Ints, size: int, step: int, ends: tuple[int, int]
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Group, end, lo, mid and hi of every window with an end between `ends`.

    Rows with one (group, first_end) are a run: the same windows begin to hold them. A run brings the windows
    from its `first_end` on, up to the next run's `first_end`, which brings the following windows; `size /
    step` windows at most.
    """
    heads = np.flatnonzero(run_starts(group, first_end))
    begin, owner = first_end[heads], group[heads]
    until = begin + size
    np.minimum(until[:-1], begin[1:], out=until[:-1], where=owner[1:] == owner[:-1])
    over, early = np.flatnonzero(until > ends[1]), np.flatnonzero(begin <= ends[0])
    until[over] = np.minimum(until[over], _after(ends[1], begin[over], step))
    begin[early] = _after(ends[0], begin[early], step)
    counts = np.maximum(until - begin, 0) // step
    tails = np.append(heads[1:], len(group))
    owner, end, lo, mid, hi = np.empty((5, int(counts.sum())), np.int64)
    _two_pointers(group, start, begin, heads, tails, counts, size, step, owner, end, lo, mid, hi)
    return owner, end, lo, mid, hi


@compiled_for_many
def _two_pointers(group, start, begin, heads, tails, counts, size, step, owner, end, lo, mid, hi):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Two pointers along the rows: to each window's first row, and to the first row of its second block."""
    window = first_row = border = 0
    for run in range(len(heads)):
        head, tail = heads[run], tails[run]
        if run == 0 or group[head] != group[head - 1]:
            first_row = border = head
        for nth in range(counts[run]):
            window_end = begin[run] + nth * step
            window_start = window_end - size
            second_block = -((-window_start) // size) * size
            while start[first_row] < window_start:
                first_row += 1
            border = max(border, first_row)
            while border < tail and start[border] < second_block:
                border += 1
            owner[window], end[window] = group[head], window_end
            lo[window], mid[window], hi[window] = first_row, border, tail
            window += 1
