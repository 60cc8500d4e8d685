"""Exact sums, quotients and differences of columns.

A window's sum is the difference of two running totals, however long the window is. Totals are 128 bits wide
and wrap around: the difference is right whenever the window's own sum fits. A quotient of integers and
decimals is rounded once: it is the double nearest to the exact quotient.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.assignment import Assignment
from muntin.errors import SourceError
from muntin.states.frames import Ints, compiled, compiled_for_many

_LARGEST = 10**38  # the first number that a decimal of 38 digits cannot hold


def exact_sums(column: pa.Array, windows: Assignment) -> pa.Array:
    """The sum of each window over a column of int64 or decimal128 without nulls."""
    ranges = (windows.lo, windows.hi, windows.late_window, windows.late_row)
    if pa.types.is_integer(column.type):
        values = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
        small, least, most = _small_sums(values, windows.order, *ranges, windows.is_short)
        if (
            max(-int(least), int(most)) * (len(windows.order) + len(windows.late_row)) < 2**63
        ):  # surely no sum left 64 bits
            return pa.array(small)
    low, high = _limbs(column)
    sums = _running(low[windows.order], high[windows.order], low, high, *ranges)
    if pa.types.is_integer(column.type):
        return _integers(*sums)
    size = _running_floats(high[windows.order], high, *ranges)
    return _decimals(sums[0], sums[1], size, column.type)


def _limbs(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high 64 bits of each value."""
    if pa.types.is_integer(column.type):
        values = column.to_numpy(zero_copy_only=False).astype(np.int64)
        return values.view(np.uint64), values >> 63
    pairs = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, 2)[
        column.offset : column.offset + len(column)
    ]
    return pairs[:, 0].copy(), pairs[:, 1].view(np.int64).copy()


def _integers(low: np.ndarray, high: np.ndarray) -> pa.Array:
    values = low.view(np.int64)
    if bool(np.any(high != values >> 63)):
        raise SourceError(
            'a sum does not fit 64 bits; sum a DECIMAL or a DOUBLE instead, as agg.sum("x::DECIMAL(38, 0)")'
        )
    return pa.array(values)


def _decimals(low: np.ndarray, high: np.ndarray, size: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Decimals of 128 bits. `size`: each sum's high limb as a double, which shows sums that do not fit."""
    limit_high, limit_low = divmod(_LARGEST, 2**64)
    beyond = (high > limit_high) | ((high == limit_high) & (low >= np.uint64(limit_low)))
    beyond |= (high < -limit_high - 1) | ((high == -limit_high - 1) & (low <= np.uint64(2**64 - limit_low)))
    if bool(np.any(beyond | (np.abs(size) > 1.1 * limit_high))):
        raise SourceError(f'a sum does not fit {kind}; sum a DOUBLE instead, as agg.sum("x::DOUBLE")')
    pairs = np.column_stack((low, high.view(np.uint64)))
    return pa.Array.from_buffers(kind, len(low), [None, pa.py_buffer(np.ascontiguousarray(pairs))])


def _running_floats(
    high: np.ndarray, states: np.ndarray, lo: Ints, hi: Ints, late_window: Ints, late_row: Ints
) -> np.ndarray:
    """The sum of each window's high limbs as a double, which does not wrap."""
    total = np.append(0.0, np.cumsum(high.astype(np.float64)))
    sums = total[hi] - total[lo]
    np.add.at(sums, late_window, states[late_row].astype(np.float64))
    return sums


@compiled_for_many
def _small_sums(values, order, lo, hi, late_window, late_row, is_short):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sums in 64 bits, wherever they suffice; and the least and the greatest number added, or 0."""
    out = np.zeros(len(lo), np.int64)
    if is_short:
        least, most = _each_range(values, order, lo, hi, out)
    else:
        least, most = _by_totals(values, order, lo, hi, out)
    for pair in range(len(late_window)):
        value = values[late_row[pair]]
        out[late_window[pair]] += value
        least, most = min(least, value), max(most, value)
    return out, least, most


@compiled_for_many
def _each_range(values, order, lo, hi, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    least = most = np.int64(0)
    for window in range(len(lo)):
        total = np.int64(0)
        for place in range(lo[window], hi[window]):
            value = values[order[place]]
            total += value
            least, most = min(least, value), max(most, value)
        out[window] = total
    return least, most


@compiled_for_many
def _by_totals(values, order, lo, hi, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    total, running = np.empty(len(order) + 1, np.int64), np.int64(0)
    least = most = np.int64(0)
    for place in range(len(order)):
        total[place] = running
        value = values[order[place]]
        running += value
        least, most = min(least, value), max(most, value)
    total[len(order)] = running
    for window in range(len(lo)):
        out[window] = total[hi[window]] - total[lo[window]]
    return least, most


@compiled
def _running(low, high, states_low, states_high, lo, hi, late_window, late_row):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The sum of each window: the difference of two totals, then late rows. 128 bits as (low, high)."""
    total_low, total_high = np.zeros(len(low) + 1, np.uint64), np.zeros(len(low) + 1, np.int64)
    for row in range(len(low)):
        total_low[row + 1] = total_low[row] + low[row]
        total_high[row + 1] = total_high[row] + high[row] + (1 if total_low[row + 1] < low[row] else 0)
    out_low, out_high = np.empty(len(lo), np.uint64), np.empty(len(lo), np.int64)
    for window in range(len(lo)):
        before, after = lo[window], hi[window]
        out_low[window] = total_low[after] - total_low[before]
        borrow = 1 if total_low[after] < total_low[before] else 0
        out_high[window] = total_high[after] - total_high[before] - borrow
    for pair in range(len(late_window)):
        window, row = late_window[pair], late_row[pair]
        out_low[window] += states_low[row]
        out_high[window] += states_high[row] + (1 if out_low[window] < states_low[row] else 0)
    return out_low, out_high


_EXACT = 2**53


def exact_quotients(above: pa.Array, below: pa.Array) -> pa.Array:
    """`above / below`, a double for each row; null where a side is null or the divisor is 0.

    `above`: integers, decimals, or floats, which are divided as doubles. `below`: integers.
    """
    divisor = below.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    mask = (divisor == 0) | np.asarray(above.is_null())
    if pa.types.is_floating(above.type):
        return pa.array(
            _divided(above.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), divisor),
            mask=mask,
        )
    unit = 10**above.type.scale if pa.types.is_decimal(above.type) else 1
    low, high = _words(above)
    fits = (high == low >> 63) & (low >= -_EXACT) & (low <= _EXACT) & (np.abs(divisor) <= _EXACT // unit)
    out = _divided(low, divisor * min(unit, _EXACT))
    large = np.flatnonzero(~fits & ~mask)
    three = zip(
        high[large].tolist(), low[large].view(np.uint64).tolist(), divisor[large].tolist(), strict=True
    )
    out[large] = [((upper << 64) + lower) / (each * unit) for upper, lower, each in three]
    return pa.array(out, mask=mask)


def _divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(above / below, np.float64)


def _words(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper half of each value as an integer of 128 bits, in units of its last digit."""
    if not pa.types.is_decimal(column.type):
        low = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return low, low >> 63
    column = column.cast(pa.decimal128(38, column.type.scale))
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)[
        column.offset : column.offset + len(column)
    ]
    return words[:, 0].copy(), words[:, 1]


_DIGITS = 38  # the most that a decimal of 128 bits has


def difference(high: pa.Array, low: pa.Array) -> pa.Array:
    """`high - low` of columns of one type: int64 of integers and of dates (days), a double of floats and of
    timestamps (seconds), a decimal with one digit more of decimals.

    Raises:
        SourceError: a difference does not fit, or values of this type have no difference.
    """
    kind = high.type
    if pa.types.is_floating(kind):
        return pc.subtract(high.cast(pa.float64()), low.cast(pa.float64()))
    if pa.types.is_timestamp(kind):
        return pc.divide(
            pc.subtract(high.view(pa.int64()), low.view(pa.int64())).cast(pa.float64(), safe=False), 1e6
        )
    try:
        return _exact(high, low, kind)
    except pa.ArrowInvalid as wrong:
        raise SourceError(
            f'a range does not fit {kind}; take the range of a DOUBLE instead, as agg.range("x::DOUBLE")'
        ) from wrong


def _exact(high: pa.Array, low: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pc.subtract(high.view(pa.int32()).cast(pa.int64()), low.view(pa.int32()).cast(pa.int64()))
    if pa.types.is_integer(kind):
        return pc.subtract_checked(high.cast(pa.int64()), low.cast(pa.int64()))
    if pa.types.is_decimal(kind):
        wide = pa.decimal256(_DIGITS + 1, kind.scale)
        return pc.subtract(high.cast(wide), low.cast(wide)).cast(
            pa.decimal128(min(kind.precision + 1, _DIGITS), kind.scale)
        )
    raise SourceError(f"there is no range of {kind}; take one of numbers, dates or timestamps")


def quotients(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """`above / below` as doubles; the caller masks the rows where `below` is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(above / below, np.float64)
