"""The states of one batch, combined to one state per key and frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.windows import combined_fields
from muntin.states.columns import FIRST_EVENT, FRAME, LAST_EVENT
from muntin.states.frames import run_starts
from muntin.states.keys import contiguous, key_codes
from muntin.states.order import sorted_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.engine.protocols import Field


def merged(table: pa.Table, keys: Sequence[str], fields: Sequence[Field], greatest: Iterable[str] = ()) -> pa.Table:
    """One state per key and frame.

    Args:
        table: states in order of arrival, several per key and frame: key columns, frame, event times if kept, fields' columns.
        keys: names of the key columns.
        fields: how the other columns combine.
        greatest: more columns, of which the greatest value stays; of booleans whether one is true.
    """
    codes = key_codes([contiguous(table[key]) for key in keys], len(table))
    frame = table[FRAME].to_numpy()
    order = sorted_order(codes, frame)
    heads = np.flatnonzero(run_starts(codes[order], frame[order]))
    columns = {name: table[name].take(pa.array(order[heads])) for name in (*keys, FRAME)}
    for name, extreme in {FIRST_EVENT: np.minimum, LAST_EVENT: np.maximum, **dict.fromkeys(greatest, np.maximum)}.items():
        if name in table.column_names:
            values = table[name].to_numpy()[order]
            columns[name] = pa.array(extreme.reduceat(values, heads) if len(heads) else values)
    columns |= combined_fields(table, order, heads, fields)
    return pa.table(columns)
