"""States sorted by key and event time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.states.columns import BATCH_POSITION, BUCKET, FIRST_EVENT, FRAME, LAST_EVENT, ROW_IN_BATCH
from muntin.states.frames import Frames, Ints
from muntin.states.keys import contiguous, key_codes
from muntin.states.order import sorted_order, taken

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Arranged:
    """States, and the same states as frames, in one order.

    Attributes:
        states, frames: the states.
        keys: for windows by arrival, where a group may have no state: a row of the key columns for each group.
        noted: for windows by arrival: the columns that notes alone need, in the order in which they were read, and the row of each state
            in them. Notes are about few states, so that they are not sorted.
    """

    states: pa.Table
    frames: Frames
    keys: pa.Table | None = None
    noted: tuple[pa.Table, Ints] | None = None

    def of_note(self, rows: Ints) -> pa.Table:
        """Some states, by number, with the columns that notes need."""
        states = self.states.take(pa.array(rows))
        if self.noted is None:
            return states
        more = self.noted[0].take(pa.array(self.noted[1][rows]))
        return pa.table({name: column for table in (states, more) for name, column in zip(table.column_names, table.columns, strict=True)})


def arrange(states: pa.Table, keys: Sequence[str], width_us: int, then: Sequence[str] = ()) -> Arranged:
    """Sort states by (key, frame, batch, order of arrival).

    Args:
        states: key columns, `frame` (timestamp us UTC), `first_event` and `last_event` if a window asks for them, the
            fields' columns, and `BATCH_POSITION`, the position of the state's batch; in order of arrival.
        keys: names of the key columns.
        width_us: of the frames.
        then: of a rollup, all key columns: they order the states of its key, frame and batch, whatever files these came from.
    """
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    start, batch = instants(states[FRAME]), states[BATCH_POSITION].to_numpy()
    more = [key_codes([contiguous(states[key]) for key in then], len(states))] if then else []
    order = sorted_order(codes, start // width_us, batch, *more)
    states = taken(states, order)
    first, last = (instants(states[name]) if name in states.column_names else start[order] for name in (FIRST_EVENT, LAST_EVENT))
    return Arranged(states, Frames(codes[order], start[order], batch[order], first, last, width_us, states=states))


def by_key(states: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows of a table of states as files that batches share keep them: states by (bucket, key, frame), those that are rows by
    (bucket, key). Rows of the quarantine stay in order.

    Args:
        states: of some batches, one batch behind the other.
        keys: names of the key columns.
    """
    if BUCKET not in states.column_names or not set(keys) <= set(states.column_names):
        return states
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    bucket: Ints = contiguous(states[BUCKET]).to_numpy().astype(np.int64)
    frame = [] if ROW_IN_BATCH in states.column_names else [instants(states[FRAME])]
    return taken(states, sorted_order(bucket, codes, *frame))


def some_of(arranged: Arranged, rows: Ints) -> Arranged:
    """Some states by event time, by number, ascending."""
    frames = arranged.frames
    if len(rows) == len(frames):
        return arranged
    group, start, batch, first, last = (column[rows] for column in (frames.group, frames.start, frames.batch, frames.first, frames.last))
    states = taken(arranged.states, rows)
    return Arranged(states, Frames(group, start, batch, first, last, frames.width, states=states))


def instants(column: pa.ChunkedArray) -> Ints:
    """A column of instants as microseconds."""
    return contiguous(column).view(pa.int64()).to_numpy(zero_copy_only=False)
