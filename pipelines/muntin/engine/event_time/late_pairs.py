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

    Args:
        windows: without late pairs.
        groups: the group of every row of the frames.
        pair_row, pair_start, pair_end: a late state, and the bounds of a window that it counts in.
    """
    found, late_window = with_windows(windows, groups[pair_row], pair_start, pair_end)
    pairs = np.lexsort((pair_row, late_window))
    return replace(found, late_window=late_window[pairs], late_row=pair_row[pairs])


def with_windows(windows: Assignment, group: Ints, start: Ints, end: Ints) -> tuple[Assignment, Ints]:
    """The windows and further windows, each window once; and the number that each of the further windows has among all.

    A window that is in no range has an empty range: `lo = mid = hi = 0`. The kind has no columns of its own.

    Args:
        windows: sorted by (group, start, end).
        group, start, end: of the further windows, which may be among the windows.
    """
    groups, starts, ends = np.append(windows.group, group), np.append(windows.start, start), np.append(windows.end, end)
    order = sorted_order(groups, starts, ends)
    is_first = run_starts(groups[order], starts[order], ends[order])
    number = np.empty(len(order), np.int64)  # of the window that each entry of `groups`, `starts`, `ends` stands for
    number[order] = np.cumsum(is_first) - 1
    firsts = order[is_first]
    lo, mid, hi = np.zeros((3, len(firsts)), np.int64)
    known = number[: len(windows.group)]
    lo[known], mid[known], hi[known] = windows.lo, windows.mid, windows.hi
    found = replace(
        windows,
        group=groups[firsts],
        start=starts[firsts],
        end=ends[firsts],
        lo=lo,
        mid=mid,
        hi=hi,
        late_window=known[windows.late_window],
    )
    return found, number[len(windows.group) :]
