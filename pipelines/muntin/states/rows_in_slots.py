"""Rows become states in slots: each row is added to the slot of its key and frame as it comes. No row is sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.columns import FRAME
from muntin.states.derived_columns import row_count
from muntin.states.key_dictionary import DistinctValues, KeyDictionary
from muntin.states.keys import numbered_keys
from muntin.states.layout import RowsAtHand
from muntin.states.slots import empty_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.states.frames import Ints
    from muntin.states.layout import Layout, Lifted, SlotColumn
    from muntin.states.slots import Column


class Extent(NamedTuple):
    """How many rows there are, and their least and greatest time, microseconds."""

    rows: int
    oldest: int
    newest: int


def extent_of(states: pa.Table, first: str, last: str) -> Extent | None:
    """The extent of the rows that states are made of; None where there are none. `first`, `last`: columns with their times."""
    ends = pc.min(states[first]).as_py(), pc.max(states[last]).as_py()
    return Extent(row_count(states), *ends) if len(states) else None


class LiftedStates(NamedTuple):
    """States, and the extent of the rows that they are made of."""

    table: pa.Table
    extent: Extent


class OutgrownError(Exception):
    """Rows came for which a layout, the first argument, is not worth it."""


def rows_in_slots(
    batches: Iterable[pa.RecordBatch],
    keys: Sequence[str],
    time: str,
    columns: Mapping[str, Lifted],
    most: Extent,
    layouts: Sequence[Layout],
) -> LiftedStates | None:
    """States of rows, sorted by (bucket, key, frame).

    None if a sum is not finite or may not fit, there are too many keys, or there is no row, or more than `most` says.

    Args:
        batches: the rows in order of arrival, with the key columns, `time` (int64, microseconds), and the columns of values.
        keys: names of one to three key columns.
        time: name of the column with event times.
        columns: column of a state -> what fills it. `rows` counts all rows.
        most: how many rows are expected at most, and between which times.
        layouts: where slots may lie; the first that is not outgrown by the first rows is taken.

    Raises:
        OutgrownError: the layout that is taken is outgrown.

    Returns:
        key columns, `frame` (int64, microseconds), `columns` (int64 or float64; of "numbers" lists of float64; at an extreme as the rows).
    """
    dictionary, layout, shape, table = None, None, (0, 0), dict[str, "SlotColumn"]()
    came, oldest, newest = 0, most.newest, most.oldest
    for batch in filter(len, batches):
        moment, came = batch[time].to_numpy(), came + len(batch)
        oldest, newest = moment.min(initial=oldest), moment.max(initial=newest)
        if came > most.rows or oldest < most.oldest or newest > most.newest:
            return None
        dictionary = KeyDictionary([DistinctValues(pa.array([], batch[key].type)) for key in keys]) if dictionary is None else dictionary
        number = dictionary.numbers([batch[key] for key in keys], len(batch))
        if number is None:
            return None
        layout, slot = _laid_out([layout] if layout else layouts, moment, number, len(dictionary))
        if not table:
            table = empty_columns(columns, batch.schema, *layout.shape, most.rows)
        elif shape != layout.shape:
            for column in table.values():
                column.widened(*layout.shape)
        shape = layout.shape
        rows = RowsAtHand(slot, moment, batch)
        if not all(column.take(rows) for column in table.values()):
            return None
    if dictionary is None or layout is None or not all(column.is_finite for column in table.values()):
        return None
    return LiftedStates(_states(table, dictionary, keys, layout), Extent(came, int(oldest), int(newest)))


def _laid_out(layouts: Sequence[Layout], time_us: Ints, key: Ints, keys: int) -> tuple[Layout, Ints]:
    """The first layout that is not outgrown, and the slot of each row.

    Raises:
        OutgrownError: all are.
    """
    for layout in layouts:
        if (slot := layout.slots(time_us, key, keys)) is not None:
            return layout, slot
    raise OutgrownError(layouts[-1])


def _states(table: Mapping[str, SlotColumn], dictionary: KeyDictionary, keys: Sequence[str], layout: Layout) -> pa.Table:
    """The states of the slots with rows."""
    columns, counts = dictionary.columns, cast("Column", table["rows"]).slots
    rank, _ = numbered_keys(columns, len(dictionary))
    filled = layout.filled(counts, rank)
    owner = pa.array(filled.key)
    found: dict[str, pa.Array] = {name: column.take(owner) for name, column in zip(keys, columns, strict=True)}
    found[FRAME] = pa.array(filled.frame)
    return pa.table(found | {name: column.states(counts, filled.slot, filled.place) for name, column in table.items()})
