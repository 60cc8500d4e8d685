"""Members: every pair of a window and a state that it holds, for aggregates that keep items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.engine.repeats import consecutive
from muntin.states.frames import NO_INTS, Ints
from muntin.states.order import sorted_order

_PIECE = 1 << 22  # items in memory at once, unless one window alone has more


def members(windows: Assignment, first: int = 0, stop: int | None = None) -> tuple[Ints, Ints]:
    """Pairs (window, row) of the windows `first` up to `stop`, sorted, including late rows.

    The rows of a window are in the order of the states: by frame, by batch, by arrival.
    """
    stop = len(windows.lo) if stop is None else stop
    lo, counts = windows.lo[first:stop], windows.hi[first:stop] - windows.lo[first:stop]
    window = np.repeat(np.arange(first, stop), counts)
    row = windows.order[consecutive(lo, counts)]
    late = slice(*np.searchsorted(windows.late_window, (first, stop)))
    if len(windows.late_window[late]):
        window, row = np.append(window, windows.late_window[late]), np.append(row, windows.late_row[late])
    elif bool(np.all((row[1:] > row[:-1]) | (window[1:] > window[:-1]))):
        return window, row
    order = sorted_order(window, row)
    return window[order], row[order]


def pieces(windows: Assignment, lengths: Ints, most: int = _PIECE) -> Iterator[tuple[Ints, Ints]]:
    """The items of every window, some windows at a time.

    `windows`: over the rows. `lengths`: how many items each row's list has; items are counted through all
    lists, from 0. `most`: items in a piece, unless one window alone has more.
    """
    begins = np.cumsum(lengths) - lengths
    sizes = sizes_of(windows, lengths)
    first = 0
    while first < len(sizes):
        reach = np.cumsum(sizes[first : first + most])
        stop = first + max(1, int(np.searchsorted(reach, most, side="right")))
        window, row = members(windows, first, stop)
        counts = lengths[row]
        yield np.repeat(window, counts), consecutive(begins[row], counts)
        first = stop


def sizes_of(windows: Assignment, lengths: Ints) -> Ints:
    """How many items each window has."""
    total = np.append(0, np.cumsum(lengths[windows.order]))
    sizes = total[windows.hi] - total[windows.lo]
    np.add.at(sizes, windows.late_window, lengths[windows.late_row])
    return sizes


def in_runs(rows: Ints, bounds: Ints, count: int) -> Assignment:
    """Windows over `rows` from each of `bounds` to the next, each in one block; `count` rows in all."""
    lo, hi = bounds[:-1], bounds[1:]
    block = np.repeat(np.arange(len(lo)), hi - lo)
    none, zeros = NO_INTS, np.zeros(len(lo), np.int64)
    return Assignment(rows, block, zeros, lo, hi, lo, lo, hi, none, none, np.zeros(count, np.int64))
