"""Stretches: adjacent rows of a key, in order of event time, then of arrival, that belong together.

    row          a  b  c  d  e  f  g  h
    code         1  1  0  1  2  2  2  2       rows of one code stay together
    opens        x  x  .  x  x  .  .  x       which rows may begin a stretch
    closes       .  .  .  .  .  .  x  .       behind which rows a stretch ends
    stretches    |==|     |  |=====|  |

A stretch is `[first row, the row of another code)`; `[first row, closing row]`; or, as long as it may be, `[first row, first row + limit)`.
It is decided when time is known up to its end; what comes after that and lies before it is late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival.reading import arrived_rows, counters
from muntin.engine.assignment import Held
from muntin.engine.event_time.disjoint import OUTSIDE, labelled
from muntin.engine.event_time.stretches_kernel import Rows, held_rows, stretched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints

    Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Marks:
    """The code of each row, whether it may begin a stretch, and whether a stretch ends with it.

    `shown`: columns of windows, with the value of each row.
    """

    code: Ints
    opens: Bools
    closes: Bools
    shown: Mapping[str, pa.Array]


def stretches(frames: Frames, marks: Marks, floor: Ints, *, longest_us: int = 0, least_us: int = 0) -> Assignment:
    """The windows of stretches.

    Args:
        frames: rows, sorted by (group, time, arrival).
        marks: what cuts them.
        floor: per batch, and one past the last, the end up to which windows were closed before it came.
        longest_us: how long a stretch may be; 0: as long as it likes.
        least_us: a stretch whose last row is less than this behind its first has no window.
    """
    arrived = arrived_rows(frames)
    rows = Rows(frames.group, frames.start, frames.batch, marks.code, marks.opens, marks.closes, arrived.held)
    found, label, notes = stretched(rows, floor, arrived.noted_after, counters(frames, 2), longest_us)
    held = _held(rows, label, notes)
    first, last, end, newest, by_limit, tie = np.ascontiguousarray(found.T)
    kept = frames.start[last] - frames.start[first] >= least_us
    if not kept.all():
        number = np.where(kept, np.cumsum(kept) - 1, OUTSIDE)
        inside = label >= 0
        label[inside] = number[label[inside]]
        first, last, end, newest, by_limit, tie = (column[kept] for column in (first, last, end, newest, by_limit, tie))
    batches = len(floor) - 1
    closed = np.maximum(np.searchsorted(floor[1:], end), newest)
    unended = (closed == batches) & ((by_limit > 0) | (end == AFTER_ALL))
    more = {name: column.take(pa.array(first)) for name, column in marks.shown.items()} | {"tie": tie}
    if longest_us:
        more["cut"] = (by_limit > 0) & ~unended
    windows = labelled(frames, label, frames.start[first], np.where(unended, frames.start[last], end), closed=closed, more=more)
    return replace(windows, held=held)


def _held(rows: Rows, label: Ints, notes: np.ndarray) -> Held:
    """The rows that are undecided after some batches."""
    (note, row), kept = held_rows(rows, label, notes)
    position, group, *decided = np.ascontiguousarray(notes[kept, :4].T)
    return Held(position, group, np.stack(decided, axis=1), np.zeros(len(position), np.int64), note, row, all_open=False)
