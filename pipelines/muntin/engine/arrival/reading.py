"""Arrays of the rows that kernels of windows by arrival read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numba import njit

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival.limits import dropped
from muntin.engine.arrival.rules import Measure
from muntin.states.columns import FILE_NUMBER, ROW_IN_BATCH
from muntin.states.frames import run_numbers
from muntin.states.sorted_rows import BLANK

if TYPE_CHECKING:
    from muntin.engine.arrival.rules import Rules
    from muntin.states.frames import Arrived, Frames, Ints


def arrived_rows(frames: Frames) -> Arrived:
    """The arrival of the rows.

    Raises:
        ValueError: the frames are not sorted by arrival.
    """
    if frames.arrival is None:
        raise ValueError("arrival windows need rows in order of arrival")
    return frames.arrival


def clocked(frames: Frames) -> Ints:
    """The time of arrival of each row: within its batch's interval, and never before that of the row before it."""
    rows = arrived_rows(frames)
    if rows.clock is None:
        return np.zeros(len(frames), np.int64)
    inside = np.clip(rows.clock, rows.starts[frames.batch], rows.ends[frames.batch] - 1)
    _never_back(frames.group, inside)
    return inside


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _never_back(group, clock):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for row in range(1, len(clock)):
        if group[row] == group[row - 1]:
            clock[row] = max(clock[row], clock[row - 1])


def compared(measure: Measure, frames: Frames) -> tuple[np.ndarray, np.ndarray, float]:
    """The value that a difference is about, where it is known, and by how much it may grow; -1: there is no difference."""
    if measure.difference is None:
        return np.zeros(len(frames)), np.zeros(len(frames), np.bool_), -1.0
    column = arrived_rows(frames).columns[measure.column]
    known = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else np.ones(len(frames), np.bool_)
    if pa.types.is_integer(column.type) and float(measure.difference).is_integer():
        return column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), known, int(measure.difference)
    return column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), known, float(measure.difference)


def marked(rules: Rules, frames: Frames) -> np.ndarray:
    """Whether each row is a marker."""
    return arrived_rows(frames).columns[rules.marker].to_numpy(zero_copy_only=False) if rules.marker else np.zeros(len(frames), np.bool_)


def ranked(frames: Frames) -> Ints:
    """The place of each row by arrival, over all partitions."""
    rank = np.empty(len(frames), np.int64)
    place = arrived_rows(frames).columns[ROW_IN_BATCH].to_numpy(zero_copy_only=False)
    rank[np.lexsort((place, frames.batch))] = np.arange(len(frames))
    return rank


def sections(rules: Rules, frames: Frames) -> Ints:
    """A number that changes from row to row with the batch, and with the file if windows end with files."""
    if rules.ends_with != "file":
        return frames.batch
    numbers = run_numbers(frames.batch, arrived_rows(frames).columns[FILE_NUMBER].to_numpy(zero_copy_only=False))
    numbers.setflags(write=False)  # as those of batches are: a kernel is compiled for each type
    return numbers


def counters(frames: Frames, width: int) -> np.ndarray:
    """The counters of each partition, as the last batch left them; blank at the beginning of history."""
    rows = arrived_rows(frames)
    return rows.counters if rows.counters.shape[1] else np.tile(BLANK[width], (len(rows.counters), 1))


def drops(rules: Rules, frames: Frames) -> tuple[Ints, np.ndarray]:
    """Which partitions are dropped, as too many are held, or too many rows in all.

    Returns:
        Of each row the batch in which its partition is dropped before its next row comes, AFTER_ALL if it is not; and whether
        it is dropped at the row, before anything comes of it.
    """
    if rules.most_partitions < 0 and rules.most_rows < 0:
        return np.full(len(frames), AFTER_ALL), np.zeros(len(frames), np.bool_)
    slides, rows = rules.trigger is not None, rules.evict.rows or -1
    value, known, difference = compared(Measure() if slides else rules.evict, frames)
    flushed_with, holds_most = (-1, rows) if slides else (rows, -1)
    limits = (flushed_with, difference, rules.evict.absolute, holds_most, rules.most_partitions, rules.most_rows)
    return dropped(np.argsort(ranked(frames)), frames.group, frames.batch, value, known, limits)
