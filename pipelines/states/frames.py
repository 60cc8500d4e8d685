"""Frames: the sorted partial states that every window is a range over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.definition.instants import BEFORE_ALL
from pipelines.states.columns import ARRIVAL_TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Arrived:
    """Rows in order of arrival, and how their partitions were left by the batches before them.

    Attributes:
        columns: of the states: what windows read of their rows.
        starts, ends: of each batch's interval, microseconds.
        origin: the pipeline's start, from which stretches of arrival time are counted.
        held: whether each row is one that was held before; these come first in their partition.
        counters, bases: of each group, as left; `counters` has no columns at the beginning of history.
        snaps: positions of the batches after which to note what is held.
        evaluate: windows, SQL expression over their results -> its values as doubles, NaN for null; where it is asked for.
    """

    columns: Mapping[str, pa.Array]
    starts: Ints
    ends: Ints
    origin: int
    held: np.ndarray
    counters: np.ndarray
    bases: np.ndarray
    snaps: Ints
    evaluate: Callable[[Any, str], np.ndarray] | None = None

    @property
    def clock(self) -> Ints | None:
        """The times of arrival, if the source says any; before every instant where it does not."""
        if ARRIVAL_TIME not in self.columns:
            return None
        return self.columns[ARRIVAL_TIME].fill_null(BEFORE_ALL).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Frames:
    """Partial states, one a row, sorted by (group, start, batch, order of arrival).

    Attributes:
        group: dense number of the key.
        start: first instant of the frame, microseconds.
        batch: position of the batch in the history.
        first, last: times of the first and last event, microseconds; equal to `start` where no window asks for them.
        width: the frames' width, microseconds.
        arrival: what arrival windows need beside; rows are then sorted by (group, order of arrival).
    """

    group: Ints
    start: Ints
    batch: Ints
    first: Ints
    last: Ints
    width: int
    arrival: Arrived | None = None

    def __len__(self) -> int:
        return len(self.group)


def run_starts(*columns: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where any of the columns differs from the row before; true for the first row."""
    begins = np.zeros(len(columns[0]), np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def run_numbers(*columns: Ints) -> Ints:
    """For each row the number of its run of equal values, from 0."""
    numbers: Ints = np.cumsum(run_starts(*columns)) - 1
    return numbers


def sorted_order(*columns: Ints, unique: bool = False) -> Ints:
    """The stable order that sorts rows by these columns, the first one foremost.

    One packed integer is sorted where the columns' ranges allow, several columns otherwise. Rows that are `unique` in
    these columns need no stable sort, which is three times as fast.
    """
    packed = _packed(columns)
    if packed is None:
        return np.lexsort(columns[::-1])
    if bool(np.all(packed[1:] >= packed[:-1])):
        return np.arange(len(packed))
    return np.argsort(packed, kind=None if unique else "stable")


def _packed(columns: tuple[Ints, ...]) -> Ints | None:
    if not len(columns[0]):
        return columns[0]
    packed, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        size *= high - low + 1
        if size >= 2**62:
            return None
        packed = packed * (high - low + 1) + (column - low)
    return packed
