"""Two tables with states of the same rows, each with other fields, become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.states.columns import BATCH, FIRST_EVENT, FRAME, LAST_EVENT, ROW_IN_BATCH
from muntin.states.keys import contiguous, key_codes
from muntin.states.order import sorted_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.states.frames import Ints

_CODE = "muntin_code"
_ALIKE = (_CODE, FRAME, "rows", FIRST_EVENT, LAST_EVENT, ROW_IN_BATCH)


def joined(old: pa.Table, new: pa.Table, keys: Sequence[str], columns: Sequence[str]) -> tuple[pa.Table, Ints]:
    """States with the columns of both tables, and the starts of the batches whose states are not of the same rows and are left out.

    Args:
        old: states of some batches: key columns, `batch`, `frame`, `rows`, ...; states of one batch, key and frame in order of arrival.
        new: states as in `old`, with other fields.
        keys: names of the key columns.
        columns: of the result, in order; a column of both tables is that of `old`.
    """
    codes = _codes(old, new, keys)
    unlike = _other_counts(_integers(old[BATCH]), _integers(new[BATCH]))
    old = _ordered(old.append_column(_CODE, codes[: len(old)]), unlike)
    new = _ordered(new.append_column(_CODE, codes[len(codes) - len(new) :]), unlike)
    differ = np.zeros(len(old), np.bool_)
    for name in _ALIKE:
        if name in old.column_names:
            differ |= _integers(old[name]) != _integers(new[name])
    bad = np.unique(_integers(old[BATCH])[differ])
    kept = pa.array(~np.isin(_integers(old[BATCH]), bad))
    both = pa.table({name: (old if name in old.column_names else new)[name] for name in columns})
    return both.filter(kept), np.union1d(unlike, bad)


def _codes(old: pa.Table, new: pa.Table, keys: Sequence[str]) -> pa.Array:
    """A number for the key of each row, rows of `old` first; equal for equal keys of both tables."""
    columns = [pa.concat_arrays([contiguous(old[key]), contiguous(new[key].cast(old[key].type))]) for key in keys]
    return pa.array(key_codes(columns, len(old) + len(new)))


def _other_counts(old: Ints, new: Ints) -> Ints:
    """The batches that have more rows in the first column of batches than in the second, ascending."""
    starts = np.union1d(old, new)
    counts = (np.bincount(np.searchsorted(starts, column), minlength=len(starts)) for column in (old, new))
    return starts[np.not_equal(*counts)]


def _ordered(table: pa.Table, unlike: Ints) -> pa.Table:
    """The rows of the other batches, in an order that both tables have."""
    table = table.filter(pa.array(~np.isin(_integers(table[BATCH]), unlike)))
    within = [ROW_IN_BATCH] if ROW_IN_BATCH in table.column_names else [_CODE, FRAME]
    return table.take(pa.array(sorted_order(*(_integers(table[name]) for name in (BATCH, *within)))))


def _integers(column: pa.ChunkedArray) -> Ints:
    values = contiguous(column)
    return (values.view(pa.int64()) if pa.types.is_timestamp(values.type) else values.cast(pa.int64())).to_numpy(zero_copy_only=False)
