"""Rows become states in a table with a slot for each frame and key: no row is sorted, and states come out sorted.

frame 0   | key a | key b | key c |       |    a slot: the count, the sums, ... of the rows of a key in a frame
frame 1   | key a | key b | key c |       |    rows come by time: those at hand fall into neighbouring slots
frame 2   | key a | key b | key c |       |    room for new keys: the table grows to the right

It is worth it where there are few slots for many rows: see `fits`. Elsewhere a hash table of DuckDB groups the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.states.columns import FRAME
from pipelines.states.dense_keys import MOST_VALUES, MetKeys, MetValues
from pipelines.states.frames import frame_numbers, frame_starts
from pipelines.states.held_once import whole_column
from pipelines.states.keys import numbered_keys
from pipelines.states.slots import empty_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.definition.kinds import Cycle
    from pipelines.states.slot_numbers import Numbers
    from pipelines.states.slots import Column, Lifted

MOST_SLOTS = 2**21
"""What bounds the memory: 16 MB for a column of states."""
_KEYS = 64  # room at the beginning


class Extent(NamedTuple):
    """How many rows there are, and their least and greatest time, microseconds."""

    rows: int
    oldest: int
    newest: int


def extent_of(states: pa.Table, first: str, last: str) -> Extent | None:
    """The extent of the rows that states are made of; None where there are none. `first`, `last`: columns with their times."""
    ends = pc.min(states[first]).as_py(), pc.max(states[last]).as_py()
    return Extent(int(whole_column(states, "rows").to_numpy().sum()), *ends) if len(states) else None


class DenseStates(NamedTuple):
    """States, and the extent of the rows that they are made of."""

    table: pa.Table
    extent: Extent


def fits(frames: int, keys: int, rows: int) -> bool:
    """Whether a table with slots for so many frames and keys is worth it for so many rows."""
    return frames * keys <= min(rows, MOST_SLOTS)


def dense_states(
    batches: Iterable[pa.RecordBatch],
    keys: Sequence[str],
    time: str,
    columns: Mapping[str, Lifted],
    most: Extent,
    cycle: Cycle,
) -> DenseStates | None:
    """A state for each key and frame, sorted by (bucket, key, frame).

    None if the table would be too large, a sum is not finite or may not fit, or there is no row, or more than `most` says.

    Args:
        batches: the rows in order of arrival, with the key columns, `time` (int64, microseconds), and the columns of values.
        keys: names of one to three key columns.
        time: name of the column with event times.
        columns: column of a state -> what fills it. `rows` counts all rows.
        most: how many rows are expected at most, and between which times.
        cycle: where frames begin.

    Returns:
        key columns, `frame` (int64, microseconds), `columns` (int64 or float64; of "numbers" lists of float64).
    """
    first, last = frame_numbers(np.array([most.oldest, most.newest]), cycle).tolist()
    frames, room, met, table = last - first + 1, _KEYS, None, dict[str, "Column | Numbers"]()
    came, oldest, newest = 0, most.newest, most.oldest
    for batch in batches:
        moment, came = batch[time].to_numpy(), came + len(batch)
        oldest, newest = moment.min(initial=oldest), moment.max(initial=newest)
        if came > most.rows or oldest < most.oldest or newest > most.newest:
            return None
        met = MetKeys([MetValues(pa.array([], batch[key].type)) for key in keys]) if met is None else met
        number = met.numbers([batch[key] for key in keys], len(batch))
        table = table or {name: empty_column(lifted, batch[lifted.of].type, frames, room, most.rows) for name, lifted in columns.items()}
        if not fits(frames, len(met), most.rows) or met.most_values >= MOST_VALUES:
            return None
        if len(met) > room:
            room = len(met) + len(met) // 4
            for column in table.values():
                column.widened(frames, room)
        slot = (frame_numbers(moment, cycle) - first) * room + number
        values = {lifted.of: _value(batch[lifted.of]) for lifted in columns.values()}
        if not all(column.take(slot, moment, *values[column.lifted.of]) for column in table.values()):
            return None
    if met is None or came == 0 or not all(column.is_finite for column in table.values()):
        return None
    number, states = _states(table, met, keys, room)
    states = states.add_column(len(keys), FRAME, pa.array(frame_starts(number + first, cycle)))
    return DenseStates(states, Extent(came, int(oldest), int(newest)))


def _value(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The values, and which of them are no nulls; none said where all are."""
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False), np.empty(0, np.bool_)
    return column.fill_null(0).to_numpy(zero_copy_only=False), column.is_valid().to_numpy(zero_copy_only=False)


def _states(table: Mapping[str, Column | Numbers], met: MetKeys, keys: Sequence[str], room: int) -> tuple[np.ndarray, pa.Table]:
    """The slots with rows, those of a key together, and their frames, counted from the first.

    They are read as they lie, and written to as many places as there are keys.
    """
    from pipelines.states.dense_kernels import filled_slots

    columns, counts = met.columns, cast("Column", table["rows"]).slots
    number, _ = numbered_keys(columns, len(met))
    states = np.count_nonzero(counts.reshape(-1, room), axis=0)
    order = np.argsort(number)
    before = np.zeros(room, np.int64)
    before[order] = np.cumsum(states[order]) - states[order]
    slot, place = np.empty(states.sum(), np.int64), np.empty(states.sum(), np.int64)
    filled_slots(counts, room, before, slot, place)

    owner = pa.array(np.repeat(order, states[order]))
    found: dict[str, pa.Array] = {name: column.take(owner) for name, column in zip(keys, columns, strict=True)}
    frame = np.empty(len(slot), np.int64)
    frame[place] = slot // room
    return frame, pa.table(found | {name: column.states(counts, slot, place) for name, column in table.items()})
