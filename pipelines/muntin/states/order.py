"""The order that sorts rows by columns, and rows taken in an order; by own loops where rows are many."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa

from muntin.states.frames import NO_INTS, Ints
from muntin.states.keys import contiguous

MANY = 2**16
"""Fewer rows numpy and Arrow sort and take in a few milliseconds."""
_WORTH_AN_IMPORT = 2**22
_FEW_RUNS = 16
_BITS_OF_COUNTING = 30
_WIDTHS = (8, 16, 32, 64)


def are_many(rows: int) -> bool:
    """Whether own loops pay for so many rows: numba's import takes as long as sorting four million."""
    return rows >= (MANY if "numba" in sys.modules else _WORTH_AN_IMPORT)


def sorted_order(*columns: Ints, unique: bool = False) -> Ints:
    """The stable order that sorts rows by columns, the first column foremost.

    Where the columns' ranges fit 62 bits together, they are packed into one integer, which sorts faster.
    `unique`: no two rows are equal, so that a sort that is not stable will do.
    """
    packed = _packed(columns)
    if packed is None:
        return np.arange(len(columns[0])) if _are_sorted(columns) else np.lexsort(columns[::-1])
    falls = int(np.count_nonzero(packed[1:] < packed[:-1]))
    if not falls:
        return np.arange(len(packed))
    if are_many(len(packed)):
        return _order_of_many(packed, falls, unique=unique)
    if int(packed.max()) < 2**16:
        return np.argsort(
            packed.astype(np.uint16), kind="stable"
        )  # numpy counts numbers of 16 bits, where it would compare others
    return np.argsort(packed, kind=None if unique else "stable")


def _order_of_many(packed: Ints, falls: int, *, unique: bool) -> Ints:
    """`falls`: how many numbers are less than the number before."""
    greatest = int(packed.max())
    if greatest < len(packed):
        from muntin.states.order_kernels import counted_order

        return counted_order(packed, greatest + 1)  # type: ignore[no-any-return]
    if falls < _FEW_RUNS:
        return np.argsort(packed, kind="stable")  # numpy merges what is sorted already
    if unique and greatest.bit_length() > _BITS_OF_COUNTING:
        return np.argsort(packed)
    from muntin.states.order_kernels import digits_order

    return digits_order(packed, greatest.bit_length())  # type: ignore[no-any-return]


def _are_sorted(columns: tuple[Ints, ...]) -> bool:
    """Whether rows lie in the order of the columns."""
    falls = np.zeros(len(columns[0]) - 1, np.bool_)
    same = np.ones(len(columns[0]) - 1, np.bool_)
    for column in columns:
        falls |= same & (column[1:] < column[:-1])
        same &= column[1:] == column[:-1]
    return not falls.any()


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


def take_rows(table: pa.Table, order: Ints) -> pa.Table:
    """The rows of a table in this order, in one piece."""
    if not are_many(len(order)):
        return table.combine_chunks().take(pa.array(order))
    return pa.table(
        {name: _take_rows(contiguous(table[name]), order) for name in table.column_names}, schema=table.schema
    )


def by_number(table: pa.Table, number: Ints) -> pa.Table:
    """The rows of a table in the order of their numbers, from 0 on; rows of the same number stay in order."""
    if not are_many(len(table)) or int(number.max()) >= len(table) or len(table) >= 2**31:
        return take_rows(table, sorted_order(number))
    from muntin.states.order_kernels import counted_order, counted_places, scattered

    def placed(column: pa.ChunkedArray) -> pa.Array:
        out = np.empty(len(column), f"i{column.type.bit_width // 8}")
        begin = 0
        for chunk in column.chunks:
            scattered(_plain(chunk), places[begin : begin + len(chunk)], out)
            begin += len(chunk)
        return _as_array(column.type, out)

    size = int(number.max()) + 1
    places = counted_places(number, size)
    plain = [name for name in table.column_names if _is_plain(table[name])]
    order = NO_INTS if len(plain) == table.num_columns else counted_order(number, size)
    columns = {
        name: placed(table[name]) if name in plain else _take_rows(contiguous(table[name]), order)
        for name in table.column_names
    }
    return pa.table(columns, schema=table.schema)


def _take_rows(column: pa.Array, order: Ints) -> pa.Array:
    if not _is_plain(column):
        return column.take(pa.array(order))
    from muntin.states.order_kernels import gathered

    return _as_array(column.type, gathered(_plain(column), order))


def _is_plain(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether the column is numbers of one width and no null."""
    return not column.null_count and pa.types.is_primitive(column.type) and column.type.bit_width in _WIDTHS


def _plain(column: pa.Array) -> np.ndarray:
    """The values as integers of their width."""
    return np.frombuffer(column.buffers()[1], f"i{column.type.bit_width // 8}")[
        column.offset : column.offset + len(column)
    ]


def _as_array(kind: pa.DataType, values: np.ndarray) -> pa.Array:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
