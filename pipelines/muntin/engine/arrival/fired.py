"""Windows by arrival as kernels find them: stretches of rows, or rows held sorted, of which a new row pushes
the least out (IBM Streams, `Sort`).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

import numpy as np

from muntin.engine.arrival import reading
from muntin.engine.arrival.reading import run_end
from muntin.engine.assignment import Held
from muntin.engine.ordered_lists import ranks
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, compiled

NO_ROWS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class Fired:
    """Windows, sorted by partition and index, and what is held after some batches.

    Attributes:
        group, index: of each window: the partition, and its number in it.
        lo, hi: of each window: the rows `[lo, hi)` of the frames.
        closed: the position of the batch that closes each; one past the last: still open.
        empty_start, empty_end: bounds of windows without rows, microseconds; 0 of windows with rows.
        listed: (window, row), sorted, for windows that do not hold all rows of `[lo, hi)`.
        block: of each row, for `ranges`: a number that never goes down in a partition.
        held: what is open after some batches.
        are_blocks: whether each window is a block.
    """

    group: Ints
    index: Ints
    lo: Ints
    hi: Ints
    closed: Ints
    empty_start: Ints
    empty_end: Ints
    listed: np.ndarray
    block: Ints
    held: Held
    are_blocks: bool = False


def tiled(windows: np.ndarray, notes: np.ndarray, bases: np.ndarray, rows: int) -> Fired:
    """Windows that share no row: each is a block.

    `windows`: (group, index, lo, hi, closed, empty_start, empty_end) a row. `notes`: (position, group, three
    counters, lo, hi) a row: the rows `[lo, hi)` are held. `bases`: of each note. `rows`: of the frames.
    """
    begins = np.zeros(rows + 1, np.int64)
    begins[windows[:, 2]] = 1
    begins[windows[:, 3]] = 1
    lo, hi = notes[:, 5], notes[:, 6]
    note, within = repeated(np.arange(len(lo)), hi - lo)
    held = Held(notes[:, 0], notes[:, 1], notes[:, 2:5], bases, note, lo[note] + within)
    group, index, first, stop, closed, empty_start, empty_end = np.ascontiguousarray(
        windows.T
    )  # a kernel is compiled for each layout
    return Fired(
        group,
        index,
        first,
        stop,
        closed,
        empty_start,
        empty_end,
        NO_ROWS,
        np.cumsum(begins[:-1]),
        held,
        are_blocks=True,
    )


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


@compiled
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
