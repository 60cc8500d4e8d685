"""States sorted by key and event time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.states.columns import (
    BASE,
    BATCH_POSITION,
    BUCKET,
    COUNTERS,
    FIRST_EVENT,
    FRAME,
    LAST_EVENT,
    ROW_IN_BATCH,
)
from muntin.states.derived_columns import whole
from muntin.states.frames import Arrived, Frames, Ints, run_numbers, run_starts
from muntin.states.keys import codes_of, contiguous
from muntin.states.order import sorted_order, take_rows


@dataclass(frozen=True, slots=True)
class Arranged:
    """States, and the same states as frames, in one order.

    Attributes:
        states, frames: the states.
        keys: for windows by arrival, where a group may have no state: a row of the key columns for each
            group.
        noted: for windows by arrival: the columns that notes alone need, in the order in which they were
            read, and the row of each state in them. Notes are about few states, so that they are not sorted.
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
        return pa.table(
            {
                name: column
                for table in (states, more)
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )


def arrange(states: pa.Table, keys: Sequence[str], width_us: int, then: Sequence[str] = ()) -> Arranged:
    """Sort states by (key, frame, batch, order of arrival).

    `states`: key columns, `frame` (timestamp us UTC), `first_event` and `last_event` if a window asks for
    them, the fields' columns, and `BATCH_POSITION`, the position of the state's batch; in order of arrival.
    `keys`: names of the key columns. `width_us`: of the frames. `then`: of a rollup, all key columns: they
    order the states of its key, frame and batch, whatever files they came from.
    """
    codes = codes_of(states, keys)
    start = instants(states[FRAME])
    batch = states[BATCH_POSITION].to_numpy()
    more = [codes_of(states, then)] if then else []
    order = sorted_order(codes, start // width_us, batch, *more)
    states = take_rows(states, order)
    first, last = (
        instants(states[name]) if name in states.column_names else start[order]
        for name in (FIRST_EVENT, LAST_EVENT)
    )
    return Arranged(
        states, Frames(codes[order], start[order], batch[order], first, last, width_us, states=states)
    )


def by_key(states: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows of a table of states as files that batches share keep them: states by (bucket, key, frame),
    rows as states by (bucket, key). Rows of the quarantine stay in order.

    `states`: of some batches, one batch behind the other. `keys`: names of the key columns.
    """
    if BUCKET not in states.column_names or not set(keys) <= set(states.column_names):
        return states
    codes = codes_of(states, keys)
    bucket: Ints = contiguous(states[BUCKET]).to_numpy().astype(np.int64)
    frame = [] if ROW_IN_BATCH in states.column_names else [instants(states[FRAME])]
    return take_rows(states, sorted_order(bucket, codes, *frame))


def some_of(arranged: Arranged, rows: Ints) -> Arranged:
    """Some states by event time, by number, ascending."""
    frames = arranged.frames
    if len(rows) == len(frames):
        return arranged
    group, start, batch, first, last = (
        column[rows] for column in (frames.group, frames.start, frames.batch, frames.first, frames.last)
    )
    states = take_rows(arranged.states, rows)
    return Arranged(states, Frames(group, start, batch, first, last, frames.width, states=states))


def instants(column: pa.ChunkedArray) -> Ints:
    """A column of instants as microseconds."""
    return contiguous(column).view(pa.int64()).to_numpy(zero_copy_only=False)


Evaluate = Callable[[pa.Table, Any, str], np.ndarray]

BLANK = {
    1: np.zeros(1, np.int64),
    2: np.array((BEFORE_ALL, 0)),
    3: np.array((0, AFTER_ALL, 0)),
    8: np.zeros(8, np.int64),
}
"""The counters of a new partition, by their number: 1 of rows held sorted, 2 of stretches, 3 of tumbling, 8
of sliding windows."""


@dataclass(frozen=True, slots=True)
class Batches:
    """The facts of the history that windows of rows need.

    Attributes:
        starts, ends: of each batch's interval, microseconds.
        origin: the pipeline's start.
        noted_after: positions of the batches after which what is held is noted.
    """

    starts: Ints
    ends: Ints
    origin: int
    noted_after: Ints


def arrange_rows(
    states: pa.Table,
    carried: pa.Table | None,
    keys: Sequence[str],
    batches: Batches,
    evaluate: Evaluate | None = None,
    of_notes: Sequence[str] = (),
    *,
    by_arrival: bool = True,
) -> Arranged:
    """Sort rows by (key, order of arrival), after the rows that were held before; or all of them by (key,
    event time, arrival).

    `states`: as for `arrange`, a row a row of the source; or as files hold them, see `derived_columns`.
    `carried`: what `note_after` made of an earlier batch: rows that were held, and a row for each partition
    with `COUNTERS` (list of int64) and `BASE`. None at the beginning of history. `keys`: names of the key
    columns. `batches`: the history. `evaluate`: states, windows over them, SQL expression over their results
    -> its values; where a window needs that. `of_notes`: the columns that notes alone need. `by_arrival`:
    whether arrival alone sorts the rows of a key.
    """
    partitions, before = None, 0
    if carried is not None:
        states = whole(states)
        own = pc.is_valid(carried[COUNTERS])
        partitions = carried.filter(own)
        held = carried.filter(pc.invert(own))
        before = len(held)
        states = pa.concat_tables(
            [held.select(states.column_names), states, partitions.select(states.column_names)]
        )
    count = len(states) - (len(partitions) if partitions else 0)
    codes = codes_of(states, keys)
    no_times = np.zeros(len(states) - count, np.int64)  # of partitions, which come last
    order = (
        sorted_order(codes)
        if by_arrival
        else sorted_order(codes, np.append(instants(states[FRAME].slice(0, count)), no_times))
    )
    group = run_numbers(codes[order])
    keyed = states.select(list(keys)).take(pa.array(order[run_starts(group)]))
    counters, bases = _left(
        partitions, group, order - count if partitions else order, len(keyed) if keys else min(1, len(states))
    )
    if partitions:
        rows = order < count
        order, group = order[rows], group[rows]
    noted = states.select(list(of_notes)), order
    states = whole(take_rows(states.drop_columns(list(of_notes)), order))
    start = instants(states[FRAME])
    batch = states[BATCH_POSITION].to_numpy()
    columns = {name: contiguous(states[name]) for name in states.column_names}
    evaluated = partial(evaluate, states) if evaluate else None
    times = (batches.starts, batches.ends, batches.origin)
    arrived = Arrived(columns, *times, order < before, counters, bases, batches.noted_after, evaluated)
    return Arranged(states, Frames(group, start, batch, start, start, 1, arrived), keyed, noted)


def _left(partitions: pa.Table | None, group: Ints, row: Ints, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Counters and bases of every group, from the rows that hold the counters of some groups; blank counters
    for new groups.

    `group`, `row`: of all rows, numbers of groups and of rows of `partitions`; below 0 of other rows.
    """
    if not partitions:
        return np.empty((groups, 0), np.int64), np.zeros(groups)
    group, rows = group[row >= 0], row[row >= 0]
    noted = contiguous(partitions[COUNTERS]).flatten().to_numpy().reshape(len(partitions), -1)
    counters = np.tile(BLANK[noted.shape[1]], (groups, 1))
    counters[group] = noted[rows]
    base = contiguous(partitions[BASE]).to_numpy(zero_copy_only=False)
    bases = np.zeros(groups, base.dtype)
    bases[group] = base[rows]
    return counters, bases
