"""Quotients of integers and decimals, rounded once: the double that is nearest to the exact quotient.

A double holds each integer up to 2^53, and the processor divides two doubles with one rounding. Where a number is larger, Python
divides: it rounds the quotient of two integers of any length correctly.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_EXACT = 2**53


def exact_quotients(above: pa.Array, below: pa.Array) -> pa.Array:
    """`above / below`, a double for each row; null where a side is null or the divisor is 0.

    Args:
        above: integers, decimals, or floats, which are divided as doubles.
        below: integers.
    """
    divisor = below.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    mask = (divisor == 0) | np.asarray(above.is_null())
    if pa.types.is_floating(above.type):
        return pa.array(_divided(above.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), divisor), mask=mask)
    unit = 10**above.type.scale if pa.types.is_decimal(above.type) else 1
    low, high = _words(above)
    fits = (high == low >> 63) & (low >= -_EXACT) & (low <= _EXACT) & (np.abs(divisor) <= _EXACT // unit)
    out = _divided(low, divisor * min(unit, _EXACT))
    large = np.flatnonzero(~fits & ~mask)
    three = zip(high[large].tolist(), low[large].view(np.uint64).tolist(), divisor[large].tolist(), strict=True)
    out[large] = [((upper << 64) + lower) / (each * unit) for upper, lower, each in three]
    return pa.array(out, mask=mask)


def _divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(above / below, np.float64)


def _words(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper half of each value as an integer of 128 bits, decimals in units of their last digit."""
    if not pa.types.is_decimal(column.type):
        low = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return low, low >> 63
    column = column.cast(pa.decimal128(38, column.type.scale))
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)[column.offset : column.offset + len(column)]
    return words[:, 0].copy(), words[:, 1]
