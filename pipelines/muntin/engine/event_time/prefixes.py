"""Cumulating windows: the prefixes of adjacent windows (the wholes), each one step longer than the prefix
before.

rows              0    1         2              3
a whole       [------------------------------------)     a block: no window reaches over its border
its steps     |     b0     |     b1     |     b2   |     b0, b1, b2: the borders at which steps end
windows       [ lo=mid  hi )                             rows 0..2
              [ lo=mid               hi )                rows 0..3
              [ lo=mid                          hi )     rows 0..4
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.engine.event_time.added_windows import with_late_states
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, run_numbers, run_starts

Bounds = Callable[[Ints], tuple[Ints, Ints]]


def prefixes(
    frames: Frames, whole: Bounds, step: Bounds, every: Callable[[int, int], tuple[Ints, Ints]], floor: Ints
) -> Assignment:
    """Every window from the start of a whole to the end of one of its steps, if it holds a state.

    Borders are counted: `first`, `final` and `open_from` are places in the list of all borders.

    `frames`: the states. `whole`, `step`: from instants to the start and end of the whole, and of the step,
    that hold them. `every`: from two instants to the start and end of every step between them. `floor`: for
    each state, the instant up to which windows were closed before it came.
    """
    start, end = whole(frames.start)
    borders = every(int(start.min()), int(end.max()))[1] if len(start) else start
    first = np.searchsorted(borders, step(frames.start)[1])
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
