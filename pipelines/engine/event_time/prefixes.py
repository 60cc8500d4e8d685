"""Prefixes of windows side by side: the ranges of cumulating windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.engine.assignment import Assignment
from pipelines.engine.event_time.late_pairs import joined, spread
from pipelines.states.frames import run_numbers, run_starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.states.frames import Frames, Ints

    Bounds = Callable[[Ints], tuple[Ints, Ints]]


def prefixes(frames: Frames, whole: Bounds, step: Bounds, every: Callable[[int, int], tuple[Ints, Ints]], floor: Ints) -> Assignment:
    """Every window from the start of a whole to the end of one of its steps, if it holds a state.

    Args:
        frames: the states.
        whole, step: start and end of the whole, and of the step, that hold each instant.
        every: start and end of every step between two instants.
        floor: for each state, the instant up to which windows were closed before it came.
    """
    start, last = whole(frames.start)
    borders = every(int(start.min()), int(last.max()))[1] if len(start) else start
    first = np.searchsorted(borders, step(frames.start)[1])
    final = np.searchsorted(borders, last)
    still_open = np.maximum(first, np.searchsorted(borders, floor, side="right"))
    missed = np.minimum(still_open, final + 1) - first
    on_time = np.flatnonzero(missed == 0)
    ranges = _ranges(frames.group[on_time], start[on_time], first[on_time], final[on_time], borders)
    late = np.flatnonzero((missed > 0) & (still_open <= final))
    pair_row, within = spread(late, final[late] - still_open[late] + 1)
    block = run_numbers(frames.group[on_time], start[on_time])
    group, begin, end, lo, hi = ranges
    plain = Assignment(on_time, block, group, begin, end, lo, lo, hi, pair_row[:0], pair_row[:0], missed)
    if not len(pair_row):
        return plain
    return joined(plain, frames.group, pair_row, start[pair_row], borders[still_open[pair_row] + within])


def _ranges(group: Ints, start: Ints, first: Ints, final: Ints, borders: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Between two runs of states with their own first border, windows repeat the range of the earlier run."""
    heads = np.flatnonzero(run_starts(group, start, first))
    tails = np.append(heads[1:], len(group))[: len(heads)]
    begins = run_starts(group[heads], start[heads]) if len(heads) else np.empty(0, bool)
    until = np.append(first[heads[1:]], 0)[: len(heads)]
    ends = np.append(begins[1:], True)[: len(heads)]
    until = np.where(ends, final[heads] + 1, until)
    origin = heads[begins][np.cumsum(begins) - 1]
    run, within = spread(np.arange(len(heads)), until - first[heads])
    return group[heads[run]], start[heads[run]], borders[first[heads[run]] + within], origin[run], tails[run]
