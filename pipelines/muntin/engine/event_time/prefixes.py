"""Cumulating windows: the prefixes of adjacent windows (the wholes), each one step longer than the prefix
before.

rows              0    1         2              3
a whole       [------------------------------------)     a block: no window reaches over its border
its steps     |     b0     |     b1     |     b2   |     b0, b1, b2: the borders at which steps end
windows       [ lo=mid  hi )                             rows 0..2
              [ lo=mid               hi )                rows 0..3
              [ lo=mid                          hi )     rows 0..4

Windows added to an assignment: of late states, and windows that values of earlier events last to.

frames        [ a )            [ b )        of one key
reach         |-------------|  |-------------|
windows       [   )[   )[   )[ . )[   )[   )     all that begin in a reach; with events they exist anyhow
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, run_numbers, run_starts
from muntin.states.order import sorted_order


def with_late_states(
    windows: Assignment, groups: Ints, pair_row: Ints, pair_start: Ints, pair_end: Ints
) -> Assignment:
    """The windows and the windows of late states, each window once; late states become pairs (window, row).

    `windows`: without late pairs. `groups`: the group of every row of the frames. `pair_row`, `pair_start`,
    `pair_end`: a late state, and the bounds of a window that it counts in.
    """
    all_windows, late_window = with_windows(windows, groups[pair_row], pair_start, pair_end)
    pairs = np.lexsort((pair_row, late_window))
    return replace(all_windows, late_window=late_window[pairs], late_row=pair_row[pairs])


def with_windows(windows: Assignment, group: Ints, start: Ints, end: Ints) -> tuple[Assignment, Ints]:
    """The windows and further windows, each window once; and the number that each of the further windows has
    among all.

    A window that is in no range has an empty range: `lo = mid = hi = 0`. The kind has no columns of its own.

    `windows`: sorted by (group, start, end). `group`, `start`, `end`: of the further windows, which may be
    among the windows.
    """
    groups, starts, ends = (
        np.append(windows.group, group),
        np.append(windows.start, start),
        np.append(windows.end, end),
    )
    order = sorted_order(groups, starts, ends)
    is_first = run_starts(groups[order], starts[order], ends[order])
    number = np.empty(
        len(order), np.int64
    )  # of the window that each entry of `groups`, `starts`, `ends` stands for
    number[order] = np.cumsum(is_first) - 1
    firsts = order[is_first]
    lo, mid, hi = np.zeros((3, len(firsts)), np.int64)
    own_numbers = number[: len(windows.group)]
    lo[own_numbers], mid[own_numbers], hi[own_numbers] = windows.lo, windows.mid, windows.hi
    all_windows = replace(
        windows,
        group=groups[firsts],
        start=starts[firsts],
        end=ends[firsts],
        lo=lo,
        mid=mid,
        hi=hi,
        late_window=own_numbers[windows.late_window],
    )
    return all_windows, number[len(windows.group) :]


_FAR = 1000
"""Frames, or steps, between two stretches of time: windows of shorter gaps are computed and not used."""


def with_reached(
    windows: Assignment,
    frames: Frames,
    kind: Any,  # noqa: ANN401 - of any class
    behind_us: int,
    ends: tuple[int, int],
    known_us: int,
) -> Assignment:
    """The windows, and windows that begin less than `behind_us` after the start of a frame of their group.

    `windows`: that hold events. `frames`: the states. `kind`: of the windows: it has a grid.
    `behind_us`: see above. `ends`: the windows that end after the first instant and up to the second are
    wanted. `known_us`: no wanted window begins at this instant or later.
    """
    low = np.maximum(frames.start, ends[0] - kind.follows.longest_us)
    high = np.minimum(frames.start + behind_us, min(ends[1], known_us))
    start, end = _grid(kind, low, high)
    wanted = (end > ends[0]) & (end <= ends[1]) & (start < known_us)
    start, end = start[wanted], end[wanted]
    first = np.searchsorted(start, frames.start - kind.outside_us, side="right")
    last = np.searchsorted(start, frames.start + behind_us)
    goes_on = ~run_starts(frames.group)
    first[goes_on] = np.maximum(first, np.roll(last, 1))[
        goes_on
    ]  # what a frame before it reaches is there already
    row, nth = repeated(np.arange(len(frames)), np.maximum(last - first, 0))
    at = first[row] + nth
    return with_windows(windows, frames.group[row], start[at], end[at])[0]


def _grid(kind: Any, low: Ints, high: Ints) -> tuple[Ints, Ints]:  # noqa: ANN401 - as above
    """The windows of the grid around stretches of time, each once, sorted; `low` and `high` may cross."""
    some = low < high
    parts = [
        _between(kind, *stretch) for stretch in _stretches(low[some], high[some], _FAR * kind.frame_us(0))
    ]
    if not parts:
        return low[:0], low[:0]
    windows = np.unique(
        np.column_stack([np.concatenate(column) for column in zip(*parts, strict=True)]), axis=0
    )
    return np.ascontiguousarray(windows[:, 0]), np.ascontiguousarray(windows[:, 1])


def _stretches(low: Ints, high: Ints, far_us: int) -> Iterator[tuple[int, int]]:
    """Stretches of time as few stretches, with nothing over a gap of more than `far_us` between two."""
    lows, highs = np.sort(low), np.sort(high)
    apart = np.ones(len(lows) + 1, np.bool_)
    apart[1:-1] = lows[1:] - far_us > highs[:-1]
    return zip(lows[apart[:-1]].tolist(), highs[apart[1:]].tolist(), strict=True)


def _between(kind: Any, low_us: int, high_us: int) -> tuple[Ints, Ints]:  # noqa: ANN401 - as above
    """The windows of the grid from the holders of an instant to the holders of another."""
    first, last = kind.windows_for(low_us), kind.windows_for(high_us)
    on_grid: tuple[Ints, Ints] = kind.grid(first[0][0] if first else low_us, last[-1][1] if last else high_us)
    return on_grid


Bounds = Callable[[Ints], tuple[Ints, Ints]]


def prefixes(
    frames: Frames, whole: Bounds, step: Bounds, every: Callable[[int, int], tuple[Ints, Ints]], floor: Ints
) -> Assignment:
    """Every window from the start of a whole to the end of one of its steps, if it holds a state.

    Borders are counted: `first`, `final` and `open_from` are places in the list of all borders of wholes with
    states.

    `frames`: the states. `whole`, `step`: from instants to the start and end of the whole, and of the step,
    that hold them. `every`: from two instants to the start and end of every step between them. `floor`: for
    each state, the instant up to which windows were closed before it came.
    """
    start, end = whole(frames.start)
    step_start, step_end = step(frames.start)
    far_us = _FAR * int((step_end - step_start).min()) if len(start) else 0
    parts = [every(*stretch)[1] for stretch in _stretches(start, end, far_us)]
    borders = np.concatenate(parts) if parts else start
    first = np.searchsorted(borders, step_end)
    final = np.searchsorted(borders, end)
    open_from = np.maximum(first, np.searchsorted(borders, floor, side="right"))
    missed = np.minimum(open_from, final + 1) - first
    windows = _windows_on_time(frames, start, first, final, borders, missed)
    late = np.flatnonzero((missed > 0) & (open_from <= final))
    if not len(late):
        return windows
    pair_row, nth = repeated(late, final[late] - open_from[late] + 1)
    return with_late_states(
        windows, frames.group, pair_row, start[pair_row], borders[open_from[pair_row] + nth]
    )


def _windows_on_time(
    frames: Frames, start: Ints, first: Ints, final: Ints, borders: Ints, missed: Ints
) -> Assignment:
    """The windows over the states that missed none; a block is a whole."""
    on_time = np.flatnonzero(missed == 0)
    block = run_numbers(frames.group[on_time], start[on_time])
    group, begin, end, lo, hi = _ranges(
        frames.group[on_time], start[on_time], first[on_time], final[on_time], borders
    )
    no_pairs = on_time[:0]
    return Assignment(on_time, block, group, begin, end, lo, lo, hi, no_pairs, no_pairs, missed)


def _ranges(
    group: Ints, start: Ints, first: Ints, final: Ints, borders: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Group, start, end, lo and hi of every window.

    Rows of one step are a run. A run brings the windows from its own border on, up to the next run's border;
    the last run of a whole brings the rest. All of them hold the same rows: the rows of the run
    and of the runs before it.
    """
    heads = np.flatnonzero(run_starts(group, start, first))
    tails = np.append(heads[1:], len(group))[: len(heads)]
    begins_whole = run_starts(group[heads], start[heads]) if len(heads) else np.empty(0, bool)
    ends_whole = np.append(begins_whole[1:], True)[: len(heads)]
    next_first = np.append(first[heads[1:]], 0)[: len(heads)]
    until = np.where(ends_whole, final[heads] + 1, next_first)
    head_of_whole = heads[begins_whole][np.cumsum(begins_whole) - 1]
    run, nth = repeated(np.arange(len(heads)), until - first[heads])
    return (
        group[heads[run]],
        start[heads[run]],
        borders[first[heads[run]] + nth],
        head_of_whole[run],
        tails[run],
    )
