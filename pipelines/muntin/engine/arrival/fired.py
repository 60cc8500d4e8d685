"""Windows by arrival as kernels find them: stretches of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.engine.assignment import Held
from muntin.engine.repeats import repeated
from muntin.states.frames import Ints

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
