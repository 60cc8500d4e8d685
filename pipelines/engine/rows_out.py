"""Rows out: a window whose aggregates are lists becomes a row for each of their items (IBM Streams, Sort)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.engine.event_time.late_pairs import spread
from pipelines.states.columns import ITEM_POSITION
from pipelines.states.keys import contiguous

if TYPE_CHECKING:
    from pipelines.states.frames import Ints


def exploded(windows: pa.Table, closed: Ints) -> tuple[pa.Table, Ints]:
    """A row for each item of the longest list of a window, and `ITEM_POSITION`, its place in it, from 0; shorter lists end in nulls.

    Args:
        windows: a row a window; columns of lists are taken apart, all others are repeated.
        closed: whatever is known of each window; repeated too.
    """
    columns = {name: contiguous(windows[name]) for name in windows.column_names}
    lists = {name for name, column in columns.items() if pa.types.is_list(column.type)}
    lengths = [pc.fill_null(pc.list_value_length(columns[name]), 0).to_numpy(zero_copy_only=False) for name in sorted(lists)]
    count = np.max([np.zeros(len(windows), np.int64), *lengths], axis=0).astype(np.int64)
    row, place = spread(np.arange(len(windows)), count)
    out = {name: _items(column, row, place) if name in lists else column.take(pa.array(row)) for name, column in columns.items()}
    out[ITEM_POSITION] = pa.array(place)
    return pa.table({name: out[name] for name in windows.column_names}), closed[row]


def _items(lists: pa.Array, row: Ints, place: Ints) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    at = lists.offsets.to_numpy()[:-1][row] + place
    return lists.values.take(pa.array(at, mask=place >= lengths[row]))
