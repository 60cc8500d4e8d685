"""Selections (least, greatest, first, last): which row of a window wins.

Windows that overlap use prefixes and suffixes of anchored blocks, as in `fold`; other windows are scanned row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

if TYPE_CHECKING:
    from pipelines.engine.assignment import Assignment
    from pipelines.states.frames import Ints


def winners(order_by: pa.Array, windows: Assignment, *, least: bool, newest: bool) -> Ints:
    """The row of the states that wins in each window; -1 where every candidate is null.

    Args:
        order_by: the values to compare; a null never wins.
        windows: over the states.
        least: whether the least value wins, else the greatest (a NaN is greater than any number, as in DuckDB).
        newest: whether the last of equal values to arrive wins, else the first.
    """
    ranks = sort_keys(order_by)
    candidate = np.where(order_by.is_valid().to_numpy(zero_copy_only=False), np.arange(len(ranks)), -1)
    if least:
        ranks = -1 - ranks
    return _winners(
        ranks, candidate, windows.order, windows.block, windows.lo, windows.mid, windows.hi, windows.late_window, windows.late_row, newest
    )  # type: ignore[no-any-return]


def extent(values: Ints, windows: Assignment) -> tuple[Ints, Ints]:
    """The least and the greatest integer of each window; 0 for an empty window."""
    if not len(values):
        return windows.lo * 0, windows.lo * 0
    if not len(windows.late_window) and int(np.sum(windows.hi - windows.lo)) <= len(windows.order):
        return _extremes(values, windows.order, windows.lo, windows.hi)  # type: ignore[no-any-return]
    places = (windows.order, windows.block, windows.lo, windows.mid, windows.hi, windows.late_window, windows.late_row)
    newest = False
    least, most = (_winners(ranks, np.arange(len(values)), *places, newest) for ranks in (-1 - values, values))
    return np.where(least < 0, 0, values[least]), np.where(most < 0, 0, values[most])


def sort_keys(values: pa.Array) -> Ints:
    """Integers in the order of the values: equal for equal values, greater for greater ones; 0 for nulls."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _float_keys(values)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind) or pa.types.is_time64(kind) or pa.types.is_duration(kind):
        return values.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    coded = values.dictionary_encode()
    rank = np.empty(len(coded.dictionary), np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    return np.append(rank, 0)[coded.indices.fill_null(len(rank)).to_numpy(zero_copy_only=False)]


def _float_keys(values: pa.Array) -> Ints:
    """The bits of doubles as integers; those of negative doubles are turned round."""
    plain = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # both zeros are one
    plain[np.isnan(plain)] = np.nan
    bits = plain.view(np.int64)
    return np.where(bits < 0, ~(bits & np.int64(2**63 - 1)), bits)


def ranked(by: pa.Array, then: pa.Array, *, least: bool) -> pa.Array:
    """Integers in the order of `by`; equal values are ordered by `then`, upwards if `least`, else downwards.

    Null where `by` is null.
    """
    keys, ties = (np.unique(sort_keys(column), return_inverse=True)[1].astype(np.int64) for column in (by, then))
    return pa.array(keys * (len(then) + 1) + (ties if least else len(then) - ties), mask=by.is_null().to_numpy(zero_copy_only=False))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _winner(ranks, older, newer, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of two rows, of which one came before the other; -1 is no row."""
    if older < 0:
        return newer
    if newer < 0 or ranks[newer] < ranks[older] or (ranks[newer] == ranks[older] and not newest):
        return older
    return newer


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _winners(ranks, candidate, order, block, lo, mid, hi, late_window, late_row, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if np.sum(hi - lo) <= len(order):
        out = _scanned(ranks, candidate[order], lo, hi, newest)
    else:
        out = _of_blocks(ranks, candidate[order], block, lo, mid, hi, newest)
    for pair in range(len(late_window)):
        window = late_window[pair]
        out[window] = _winner(ranks, out[window], candidate[late_row[pair]], newest)
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scanned(ranks, candidate, lo, hi, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of each window, row by row."""
    out = np.full(len(lo), -1, np.int64)
    for window in range(len(lo)):
        best, rank = -1, 0
        for row in range(lo[window], hi[window]):
            now = candidate[row]
            if now >= 0 and (best < 0 or ranks[now] > rank or (newest and ranks[now] == rank)):
                best, rank = now, ranks[now]
        out[window] = best
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _of_blocks(ranks, candidate, block, lo, mid, hi, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The winner of each window, from the winners of the prefixes and suffixes of blocks."""
    out, prefix, suffix = np.full(len(lo), -1, np.int64), np.empty_like(candidate), np.empty_like(candidate)
    best, rank = -1, 0
    for row in range(len(candidate)):
        now = candidate[row]
        if row > 0 and block[row] != block[row - 1]:
            best = -1
        if now >= 0 and (best < 0 or ranks[now] > rank or (newest and ranks[now] == rank)):
            best, rank = now, ranks[now]
        prefix[row] = best
    best = -1
    for row in range(len(candidate) - 1, -1, -1):
        now = candidate[row]
        if row + 1 < len(candidate) and block[row] != block[row + 1]:
            best = -1
        if now >= 0 and (best < 0 or ranks[now] > rank or (not newest and ranks[now] == rank)):
            best, rank = now, ranks[now]
        suffix[row] = best
    for window in range(len(lo)):
        if lo[window] < mid[window]:
            out[window] = suffix[lo[window]]
        if mid[window] < hi[window]:
            out[window] = _winner(ranks, out[window], prefix[hi[window] - 1], newest)
    return out
