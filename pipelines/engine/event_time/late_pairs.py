"""Late states beside the windows they still reach: pairs, and the windows that exist by them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pipelines.states.frames import run_starts, sorted_order

if TYPE_CHECKING:
    from pipelines.engine.assignment import Assignment
    from pipelines.states.frames import Ints


def spread(rows: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Each row as often as its count says, and beside it 0, 1, 2..."""
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(rows, counts), within


def joined(windows: Assignment, groups: Ints, pair_row: Ints, pair_start: Ints, pair_end: Ints) -> Assignment:
    """Windows with late states added; a window may exist by late states alone.

    Args:
        windows: without late pairs.
        groups: the group of every row of the frames.
        pair_row, pair_start, pair_end: a state, and the bounds of a window that it counts in.
    """
    group, start, end = (
        np.append(ours, theirs)
        for ours, theirs in ((windows.group, groups[pair_row]), (windows.start, pair_start), (windows.end, pair_end))
    )
    order = sorted_order(group, start, end)
    head = run_starts(group[order], start[order], end[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(head) - 1
    firsts = order[head]
    lo, mid, hi = np.zeros((3, len(firsts)), np.int64)
    own = number[: len(windows.group)]
    lo[own], mid[own], hi[own] = windows.lo, windows.mid, windows.hi
    late_window = number[len(windows.group) :]
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
