"""The order that sorts rows by some columns, and rows taken in an order. Loops of our own do it where rows are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pipelines.states.keys import contiguous

if TYPE_CHECKING:
    from pipelines.states.frames import Ints

MANY = 2**16
"""For fewer rows numpy and Arrow take a few milliseconds, and numba, whose import takes most of a second, is not needed."""
_FEW_RUNS = 16
_BITS_OF_COUNTING = 30
_WIDTHS = (8, 16, 32, 64)


def sorted_order(*columns: Ints, unique: bool = False) -> Ints:
    """The stable order that sorts rows by these columns, the first one foremost.

    Where the columns' ranges fit 62 bits together, they are packed into one integer, which sorts faster. `unique`: no two
    rows are equal, so that a sort that is not stable will do.
    """
    packed = _packed(columns)
    if packed is None:
        return np.lexsort(columns[::-1])
    falls = int(np.count_nonzero(packed[1:] < packed[:-1]))
    if not falls:
        return np.arange(len(packed))
    if len(packed) >= MANY:
        return _order_of_many(packed, falls, unique=unique)
    if int(packed.max()) < 2**16:
        return np.argsort(packed.astype(np.uint16), kind="stable")  # numpy counts numbers of 16 bits, where it would compare others
    return np.argsort(packed, kind=None if unique else "stable")


def _order_of_many(packed: Ints, falls: int, *, unique: bool) -> Ints:
    """`falls`: how many numbers are less than the number before."""
    greatest = int(packed.max())
    if greatest < len(packed):
        from pipelines.states.order_kernels import counted_order

        return counted_order(packed, greatest + 1)  # type: ignore[no-any-return]
    if falls < _FEW_RUNS:
        return np.argsort(packed, kind="stable")  # numpy merges what is sorted already
    if unique and greatest.bit_length() > _BITS_OF_COUNTING:
        return np.argsort(packed)
    from pipelines.states.order_kernels import digits_order

    return digits_order(packed, greatest.bit_length())  # type: ignore[no-any-return]


def _packed(columns: tuple[Ints, ...]) -> Ints | None:
    """One integer per row, in the order of the columns; None if their ranges are too wide."""
    if not len(columns[0]):
        return columns[0]
    if len(columns) == 1 and int(columns[0].max()) - (low := int(columns[0].min())) < 2**62:
        return np.subtract(columns[0], low, dtype=np.int64)
    packed, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        size *= high - low + 1
        if size >= 2**62:
            return None
        packed = packed * (high - low + 1) + (column - low)
    return packed


def taken(table: pa.Table, order: Ints) -> pa.Table:
    """The rows of a table in this order, in one piece."""
    if len(order) < MANY:
        return table.combine_chunks().take(pa.array(order))
    return pa.table({name: _taken(contiguous(table[name]), order) for name in table.column_names}, schema=table.schema)


def _taken(column: pa.Array, order: Ints) -> pa.Array:
    kind = column.type
    if column.null_count or not pa.types.is_primitive(kind) or kind.bit_width not in _WIDTHS:
        return column.take(pa.array(order))
    from pipelines.states.order_kernels import gathered

    values = np.frombuffer(column.buffers()[1], f"i{kind.bit_width // 8}")[column.offset : column.offset + len(column)]
    return pa.Array.from_buffers(kind, len(order), [None, pa.py_buffer(gathered(values, order))])
