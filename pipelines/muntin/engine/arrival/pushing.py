"""Rows held sorted, at most a number of them: a new row pushes the least out. IBM Streams, `Sort`."""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

import numpy as np
from numba import njit

from muntin.engine.arrival import reading
from muntin.engine.arrival.fired import NO_ROWS, Fired
from muntin.engine.arrival.reading import run_end
from muntin.engine.assignment import Held
from muntin.engine.ordered_lists import ranks
from muntin.states.frames import Frames, Ints

NOTED = 1  # what a note says of a partition: the index of its next window


def push(by: str, most: int, frames: Frames, *, descending: bool) -> Fired:
    """Each row as a window of its own, in the order in which the rows of a partition come out.

    `by`: the column of the states that sorts. Equal values stay in order of arrival, nulls come last. `most`:
    the number of rows that a partition holds at most. `frames`: the rows, sorted by partition and arrival;
    rows that were held before come first. `descending`: whether the greatest value comes out first.
    """
    rows = reading.arrived_rows(frames)
    rank = ranks(rows.columns[by], falling=descending)
    row, closed = _pushed(frames.group, frames.batch, rank, min(most, len(frames)), len(rows.ends))
    leaves = np.empty(len(frames), np.int64)
    leaves[row] = closed
    group, zeros = frames.group, np.zeros(len(frames), np.int64)  # a partition has as many windows as rows
    index = reading.counters(frames, NOTED)[group, 0] + np.arange(len(frames)) - np.searchsorted(group, group)
    return Fired(
        group,
        index,
        row,
        row + 1,
        closed,
        zeros,
        zeros,
        NO_ROWS,
        np.arange(len(frames)),
        _held(frames, leaves),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pushed(group, batch, rank, most, still_held):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The rows of each partition in the order in which they come out, and the batch that pushes each out.

    The rows that no row pushes out come last in their partition, sorted. Their batch is `still_held`.
    """
    out, closed = np.empty(len(group), np.int64), np.full(len(group), still_held)
    head = 0
    while head < len(group):
        tail = run_end(group, head)
        full = min(head + most, tail)
        held = [(rank[row], row) for row in range(head, full)]
        heapify(held)
        for at, row in enumerate(range(full, tail), head):
            out[at], closed[at] = heapreplace(held, (rank[row], row))[1], batch[row]
        for at in range(tail - len(held), tail):
            out[at] = heappop(held)[1]
        head = tail
    return out, closed


def _held(frames: Frames, leaves: Ints) -> Held:
    """The rows that each partition holds after some batches. `leaves`: the batch that pushes each row out."""
    rows = reading.arrived_rows(frames)
    index, groups = reading.counters(frames, NOTED)[:, 0], len(rows.counters)
    notes, pairs, count = [np.empty((0, 3), np.int64)], [NO_ROWS], 0
    for snap in rows.noted_after.tolist():
        came, gone = frames.batch <= snap, leaves <= snap
        group = np.unique(frames.group[came])
        held = np.flatnonzero(came & ~gone)
        out = np.bincount(frames.group[gone], minlength=groups)
        notes.append(np.column_stack((np.full(len(group), snap), group, (index + out)[group])))
        pairs.append(np.column_stack((count + np.searchsorted(group, frames.group[held]), held)))
        count += len(group)
    note, pair = np.concatenate(notes), np.concatenate(pairs)
    return Held(note[:, 0], note[:, 1], note[:, 2:], np.zeros(count, np.int64), pair[:, 0], pair[:, 1])
