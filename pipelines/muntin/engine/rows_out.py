"""Rows out: a window whose aggregates are lists becomes a row for each of their items (IBM Streams, Sort)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.repeats import repeated
from muntin.states.columns import ITEM_POSITION
from muntin.states.frames import Ints
from muntin.states.keys import contiguous


def exploded(windows: pa.Table, closed: Ints) -> tuple[pa.Table, Ints]:
    """A row for each item of a window's longest list. `ITEM_POSITION` is the item's place in the list, from
    0.

    Shorter lists of the window end in nulls.

    `windows`: a row a window; columns of lists are taken apart, all other columns are repeated. `closed`: a
    number of each window; repeated too.
    """
    columns = {name: contiguous(windows[name]) for name in windows.column_names}
    lists = {name for name, column in columns.items() if pa.types.is_list(column.type)}
    lengths = [
        pc.fill_null(pc.list_value_length(columns[name]), 0).to_numpy(zero_copy_only=False)
        for name in sorted(lists)
    ]
    count = np.max([np.zeros(len(windows), np.int64), *lengths], axis=0).astype(np.int64)
    row, place = repeated(np.arange(len(windows)), count)
    out = {
        name: _items(column, row, place) if name in lists else column.take(pa.array(row))
        for name, column in columns.items()
    }
    out[ITEM_POSITION] = pa.array(place)
    return pa.table({name: out[name] for name in windows.column_names}), closed[row]


def _items(lists: pa.Array, row: Ints, place: Ints) -> pa.Array:
    """The item at a place of the list in a row; null behind the list's end."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    at = lists.offsets.to_numpy()[:-1][row] + place
    return lists.values.take(pa.array(at, mask=place >= lengths[row]))
