"""Windows over spans that a table gives: spans of a key, of any length, which may overlap.

rows (frames)     0    1    2    3    4    5    6    7      of one key, sorted by time
spans           [-----------)    [-------------------)
                     [----------------)
order             0  1  2 | 1  2  3  4 | 4  5  6  7         the rows of each window, a block a window

A row that came when a window was closed is left out of this window alone. So a window's result depends on its
own span and rows, and stays to the last bit whatever other spans there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.engine.assignment import Assignment
from muntin.engine.given_spans import GivenSpans
from muntin.engine.repeats import consecutive
from muntin.states.frames import NO_INTS, Frames, Ints, compiled, run_starts
from muntin.states.keys import contiguous


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """The spans of each key.

    Attributes:
        spans: sorted by key, start and end.
        first, behind: of each key of the frames, in order, its first span, and the first span behind its
            last.
    """

    spans: GivenSpans
    first: Ints
    behind: Ints


def span_ranges(frames: Frames, owned: Owned, floor: Ints, after_us: int, until_us: int) -> Assignment:
    """The windows over spans that hold a state and end after an instant and up to another.

    `frames`: the states; no frame lies across a border of a span. `owned`: the spans of each key. `floor`:
    for each state, the instant up to which windows were closed before it came. `after_us`, `until_us`: which
    ends are wanted; `missed` counts all windows.
    """
    heads = np.flatnonzero(run_starts(frames.group))
    number, lo, hi = _held(frames, heads, owned, np.arange(len(heads)), after_us, until_us)
    order, window = consecutive(lo, hi - lo), np.repeat(np.arange(len(lo)), hi - lo)
    in_time = floor[order] < owned.spans.end[number][window]
    if not in_time.all():
        order, window = order[in_time], window[in_time]
    counts = np.bincount(window, minlength=len(number))
    there = np.flatnonzero(counts)
    number, counts = number[there], counts[there]
    ends, none = np.cumsum(counts), NO_INTS
    begins, block = ends - counts, np.repeat(np.arange(len(counts)), counts)
    more = {
        name: contiguous(owned.spans.more[name]).take(pa.array(number))
        for name in owned.spans.more.column_names
    }
    return Assignment(
        order, block, frames.group[order[begins]], owned.spans.start[number], owned.spans.end[number],
        begins, begins, ends, none, none, _missed(frames, heads, owned, floor), more=more,
    )  # fmt: skip


def _missed(frames: Frames, heads: Ints, owned: Owned, floor: Ints) -> Ints:
    """For each state, how many windows over it were closed before it came. Few states are late at all."""
    missed = np.zeros(len(frames), np.int64)
    rows = np.flatnonzero(frames.start < floor)
    if not len(rows):
        return missed
    own = np.flatnonzero(run_starts(frames.group[rows]))
    run = np.searchsorted(heads, rows[own], side="right") - 1
    number, lo, hi = _held(
        _Some(frames.start[rows]),
        own,
        owned,
        run,
        int(owned.spans.end.min(initial=0)) - 1,
        int(floor[rows].max()),
    )
    place, window = consecutive(lo, hi - lo), np.repeat(number, hi - lo)
    late = owned.spans.end[window] <= floor[rows[place]]
    missed[rows] = np.bincount(place[late], minlength=len(rows))
    return missed


@dataclass(frozen=True, slots=True, eq=False)
class _Some:
    """Some frames, of which nothing but the start is asked."""

    start: Ints


def _held(
    frames: Frames | _Some, heads: Ints, owned: Owned, run: Ints, after_us: int, until_us: int
) -> tuple[Ints, Ints, Ints]:
    """The wanted spans that hold a row of their key, key by key: number of the span, first row, first row
    behind the last.

    `heads`: the first row of each key; `run`: the number of this key in `owned`.
    """
    spans, tails = owned.spans, np.append(heads[1:], len(frames.start))[: len(heads)]
    facts = (
        frames.start,
        heads,
        tails,
        owned.first[run],
        owned.behind[run],
        spans.start,
        spans.end,
        spans.longest_us,
        after_us,
        until_us,
    )
    none = NO_INTS
    count = _pairs(*facts, none, none, none)
    number, lo, hi = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    _pairs(*facts, number, lo, hi)
    return number, lo, hi


@compiled
def _pairs(time, heads, tails, first, behind, start, end, longest, after, until, number, lo, hi):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write the wanted spans that hold a row, and their rows, if arrays have room; returns how many."""
    count = 0
    for key in range(len(heads)):
        row, tail = heads[key], tails[key]
        span = first[key] + np.searchsorted(
            start[first[key] : behind[key]], time[row] - longest, side="right"
        )
        while span < behind[key] and start[span] <= time[tail - 1]:
            if after < end[span] <= until:
                row += np.searchsorted(time[row:tail], start[span])
                last = row + np.searchsorted(time[row:tail], end[span])
                if row < last:
                    if count < len(number):
                        number[count], lo[count], hi[count] = span, row, last
                    count += 1
            span += 1
    return count
