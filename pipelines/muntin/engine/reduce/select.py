"""Selections (least, greatest, first, last): which row of a window wins.

Windows that overlap use prefixes and suffixes of anchored blocks, as in `fold`; other windows are scanned row
by row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.assignment import Assignment
from muntin.states.frames import Ints, compiled_for_many

_NAN = 0x7FF8 << 48
_NO_SIGN = 2**63 - 1


def winners(
    order_by: pa.Array, windows: Assignment, *, least: bool, newest: bool, then: pa.Array | None = None
) -> Ints:
    """The row of the states that wins in each window; -1 where every candidate is null.

    `order_by`: the values to compare; a null never wins. `windows`: over the states. `least`: whether the
    least value wins, else the greatest (a NaN is greater than any number, as in DuckDB). `newest`: whether
    the last of equal values to arrive wins, else the first. `then`: of equal values the one wins whose value
    here is least.
    """
    ranks, rows, late_rows = sort_keys(order_by), windows.order, windows.late_row
    if order_by.null_count:
        valid = order_by.is_valid().to_numpy(zero_copy_only=False)
        rows, late_rows = np.where(valid[rows], rows, -1), np.where(valid[late_rows], late_rows, -1)
    ties = None if then is None else -1 - sort_keys(then)
    return _winning(-1 - ranks if least else ranks, rows, late_rows, windows, newest=newest, ties=ties)


def _winning(
    ranks: Ints, rows: Ints, late_rows: Ints, windows: Assignment, *, newest: bool, ties: Ints | None = None
) -> Ints:
    """The row with the greatest rank in each window, and of these the greatest of `ties`; `rows`,
    `late_rows`: -1 where a row cannot win.
    """
    ranges = (windows.block, windows.lo, windows.mid, windows.hi)
    ties = ranks if ties is None else ties
    return _winners(ranks, ties, rows, *ranges, windows.late_window, late_rows, newest, windows.is_short)  # type: ignore[no-any-return]


def extent(values: Ints, windows: Assignment) -> tuple[Ints, Ints]:
    """The least and the greatest integer of each window; 0 for an empty window."""
    if not len(values):
        return windows.lo * 0, windows.lo * 0
    if not len(windows.late_window) and windows.is_short:
        return _extremes(values, windows.order, windows.lo, windows.hi)  # type: ignore[no-any-return]
    least, most = (
        _winning(ranks, windows.order, windows.late_row, windows, newest=False)
        for ranks in (-1 - values, values)
    )
    return np.where(least < 0, 0, values[least]), np.where(most < 0, 0, values[most])


def sort_keys(values: pa.Array) -> Ints:
    """Integers in the order of the values: equal for equal values; 0 for nulls."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _float_keys(values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))  # type: ignore[no-any-return]
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if (
        pa.types.is_timestamp(kind)
        or pa.types.is_date64(kind)
        or pa.types.is_time64(kind)
        or pa.types.is_duration(kind)
    ):
        return values.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    coded = values.dictionary_encode()
    rank = np.empty(len(coded.dictionary), np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    return np.append(rank, 0)[coded.indices.fill_null(len(rank)).to_numpy(zero_copy_only=False)]


@compiled_for_many
def _float_keys(values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The bits of doubles as integers, negative doubles turned round; NaN equals NaN, 0.0 equals -0.0."""
    out, bits = np.empty(len(values), np.int64), values.view(np.int64)
    for row in range(len(values)):
        if np.isnan(values[row]):
            out[row] = _NAN
        elif values[row] < 0:
            out[row] = ~(bits[row] & _NO_SIGN)
        else:
            out[row] = bits[row] & _NO_SIGN
    return out


@compiled_for_many
def _winner(ranks, ties, older, newer, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of two rows, of which the first came before the second; -1 is no row."""
    if older < 0 or newer < 0:
        return max(older, newer)
    if ranks[newer] != ranks[older]:
        return newer if ranks[newer] > ranks[older] else older
    if ties[newer] != ties[older]:
        return newer if ties[newer] > ties[older] else older
    return newer if newest else older


@compiled_for_many
def _winners(ranks, ties, rows, block, lo, mid, hi, late_window, late_rows, newest, is_short):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out = (
        _scanned(ranks, ties, rows, lo, hi, newest)
        if is_short
        else _of_blocks(ranks, ties, rows, block, lo, mid, hi, newest)
    )
    for pair in range(len(late_window)):
        window = late_window[pair]
        out[window] = _winner(ranks, ties, out[window], late_rows[pair], newest)
    return out


@compiled_for_many
def _extremes(values, order, lo, hi):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The least and the greatest value of each window, row by row."""
    least, most = np.zeros(len(lo), np.int64), np.zeros(len(lo), np.int64)
    for window in range(len(lo)):
        if lo[window] < hi[window]:
            low = high = values[order[lo[window]]]
            for row in range(lo[window] + 1, hi[window]):
                now = values[order[row]]
                low, high = min(low, now), max(high, now)
            least[window], most[window] = low, high
    return least, most


@compiled_for_many
def _scanned(ranks, ties, rows, lo, hi, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of each window, row by row."""
    out = np.full(len(lo), -1, np.int64)
    for window in range(len(lo)):
        best = -1
        for row in range(lo[window], hi[window]):
            best = _winner(ranks, ties, best, rows[row], newest)
        out[window] = best
    return out


@compiled_for_many
def _of_blocks(ranks, ties, rows, block, lo, mid, hi, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of each window, from the winners of the prefixes and suffixes of blocks."""
    out, prefix, suffix = np.full(len(lo), -1, np.int64), np.empty_like(rows), np.empty_like(rows)
    best = -1
    for row in range(len(rows)):
        if row > 0 and block[row] != block[row - 1]:
            best = -1
        best = _winner(ranks, ties, best, rows[row], newest)
        prefix[row] = best
    best = -1
    for row in range(len(rows) - 1, -1, -1):
        if row + 1 < len(rows) and block[row] != block[row + 1]:
            best = -1
        best = _winner(ranks, ties, rows[row], best, newest)
        suffix[row] = best
    for window in range(len(lo)):
        if lo[window] < mid[window]:
            out[window] = suffix[lo[window]]
        if mid[window] < hi[window]:
            out[window] = _winner(ranks, ties, out[window], prefix[hi[window] - 1], newest)
    return out
