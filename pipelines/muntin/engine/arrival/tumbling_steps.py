"""When a tumbling window of one partition ends, and what is written down then. IBM Streams, `*TumblingWindowImpl.h`.

A partition's record is an array of integers::

    rows of the partition      a  b  c  d  e  f  g  h
                               `-----'  |     |  |
                               window 0 FIRST    row: it comes now

    held are the HELD rows from FIRST on; here d, e and f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from muntin.definition.instants import AFTER_ALL

# The record. Its first three numbers are what a note says of a partition, in this order.
INDEX = 0  # of the next window
PAST = 1  # the end of the last window by time that held rows; AFTER_ALL: none yet
SEEN = 2  # when the last row came
NOTED = 3  # so many numbers
FIRST = 3  # the oldest row that is held
HELD = 4  # how many rows are held
BORDER = 5  # of held rows: the end of their stretch of time; AFTER_ALL: windows do not end by time
GROUP = 6  # number of the partition
RECORD = 7


class TumblingRules(NamedTuple):
    """When windows end; 0, or of `difference` -1, is none.

    sectioned: whether they end with each batch or file.
    together: whether a partition may drop other partitions.
    """

    rows: int
    difference: float
    absolute: bool
    time_us: int
    origin: int
    sectioned: bool
    dense: bool
    age_us: int
    emit: bool
    together: bool


class TumblingRows(NamedTuple):
    """Rows sorted by partition and arrival.

    group, batch: partition, position of the batch.
    rank: place by arrival, over all partitions; 0 where there are no markers.
    clock: arrival time.
    value, known: what the difference is about.
    section: number of the batch or file.
    marker: whether the row is a marker, and belongs to no window.
    drop_after: the batch in which the partition is dropped before its next row comes; AFTER_ALL if it is not.
    drops_itself: whether the partition is dropped at the row, before anything comes of it.
    """

    group: np.ndarray
    batch: np.ndarray
    rank: np.ndarray
    clock: np.ndarray
    value: np.ndarray
    known: np.ndarray
    section: np.ndarray
    marker: np.ndarray
    drop_after: np.ndarray
    drops_itself: np.ndarray


class Markers(NamedTuple):
    """Rank and batch of every marker, ascending."""

    rank: np.ndarray
    batch: np.ndarray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def begin(part, counters, head, group):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Continue a partition as the last batch left it; held rows come first, like all earlier rows."""
    part[:NOTED] = counters
    part[FIRST], part[HELD], part[GROUP] = head, 0, group


# How a window ended: (position of the batch, end of its stretch of time, whether its partition was dropped).
STILL_OPEN = -1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def ended_outside(part, now, before, latest, rank, drop_after, mark_rank, mark_batch, ends, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How the window ended by what happens outside its partition: up to an instant, before a rank, up to a batch."""
    batch, border, dropped = STILL_OPEN, AFTER_ALL, False
    if part[HELD] > 0:
        first = part[FIRST]
        drop = drop_after[first + part[HELD] - 1]
        if drop <= latest:
            batch, dropped = drop, True
        elif len(mark_rank):
            at = np.searchsorted(mark_rank, rank[first])
            if at < len(mark_rank) and mark_rank[at] < before and mark_batch[at] <= latest:
                batch = mark_batch[at]
        else:
            batch, border, dropped = ended_by_time(part, now, ends, rules)
    return batch, border, dropped


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def ended_by_time(part, now, ends, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How a window that holds rows ended up to an instant: its partition grew too old, or a border of time came."""
    batch, border, dropped = STILL_OPEN, part[BORDER], False
    old = _looked_at(part[SEEN] + rules.age_us, border, ends) if rules.age_us > 0 else AFTER_ALL
    if old <= now and old <= border:
        batch, dropped = int(np.searchsorted(ends, old)), True
    elif border <= now:
        batch = int(np.searchsorted(ends, border))
    return batch, border, dropped


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _looked_at(old_from, border, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """When a partition that is too old behind an instant is found out: at a border of time or the end of a batch."""
    at = np.searchsorted(ends, old_from, side="right")
    batch_end = ends[at] if at < len(ends) else AFTER_ALL
    return min(border if border > old_from else AFTER_ALL, batch_end)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def exceeds(new, oldest, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a value differs from the oldest value by more than the allowed difference."""
    rise = new - oldest
    return rise > rules.difference or (rules.absolute and -rise > rules.difference)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def come_in(part, row, clock, marker, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The row is held from now on; a marker is only seen."""
    part[SEEN] = clock[row]
    if not marker[row]:
        if part[HELD] == 0:
            part[FIRST], part[BORDER] = row, AFTER_ALL
            if rules.time_us > 0:
                part[BORDER] = rules.origin + ((clock[row] - rules.origin) // rules.time_us + 1) * rules.time_us
        part[HELD] += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def closed(windows, count, part, ending, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How many windows there are, now that one may have ended; its rows are held no more."""
    if ending[0] != STILL_OPEN:
        if rules.emit or not ending[2]:
            count = _written(windows, count, part, ending[0], ending[1], rules.time_us if rules.dense else 0)
        part[HELD] = 0
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _written(windows, count, part, batch, border, empty_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write a window, after the empty windows of `empty_us` since the last window; returns the number of windows so far."""
    first = part[FIRST]
    if empty_us > 0 and part[PAST] < AFTER_ALL and border < AFTER_ALL:
        for end in range(part[PAST] + empty_us, border, empty_us):
            windows[count] = (part[GROUP], part[INDEX], first, first, batch, end - empty_us, end)
            part[INDEX] += 1
            count += 1
    windows[count] = (part[GROUP], part[INDEX], first, first + part[HELD], batch, 0, 0)
    part[INDEX] += 1
    if border < AFTER_ALL:
        part[PAST] = border
    return count + 1
