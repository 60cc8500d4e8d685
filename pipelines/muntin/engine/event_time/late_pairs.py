"""Late states, paired with the windows that were still open when they came."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.states.frames import run_starts
from muntin.states.order import sorted_order

if TYPE_CHECKING:
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Ints


def with_late_states(windows: Assignment, groups: Ints, pair_row: Ints, pair_start: Ints, pair_end: Ints) -> Assignment:
    """The windows and the windows of late states, each window once; late states become pairs (window, row).

    A window that only late states lie in has an empty range: `lo = mid = hi = 0`.

    Args:
        windows: without late pairs.
        groups: the group of every row of the frames.
        pair_row, pair_start, pair_end: a late state, and the bounds of a window that it counts in.
    """
    group = np.append(windows.group, groups[pair_row])
    start, end = np.append(windows.start, pair_start), np.append(windows.end, pair_end)
    order = sorted_order(group, start, end)
    is_first = run_starts(group[order], start[order], end[order])
    number = np.empty(len(order), np.int64)  # of the window that each entry of `group`, `start`, `end` stands for
    number[order] = np.cumsum(is_first) - 1
    firsts = order[is_first]
    lo, mid, hi = np.zeros((3, len(firsts)), np.int64)
    on_time, late_window = number[: len(windows.group)], number[len(windows.group) :]
    lo[on_time], mid[on_time], hi[on_time] = windows.lo, windows.mid, windows.hi
    pairs = np.lexsort((pair_row, late_window))
    return replace(
        windows,
        group=group[firsts],
        start=start[firsts],
        end=end[firsts],
        lo=lo,
        mid=mid,
        hi=hi,
        late_window=late_window[pairs],
        late_row=pair_row[pairs],
    )
