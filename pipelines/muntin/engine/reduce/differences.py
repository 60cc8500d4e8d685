"""Differences of two columns: numbers, decimals, dates, timestamps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import SourceError

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
        return pc.divide(pc.subtract(high.view(pa.int64()), low.view(pa.int64())).cast(pa.float64(), safe=False), 1e6)
    try:
        return _exact(high, low, kind)
    except pa.ArrowInvalid as wrong:
        raise SourceError(f'a range does not fit {kind}; take the range of a DOUBLE instead, as agg.range("x::DOUBLE")') from wrong


def _exact(high: pa.Array, low: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pc.subtract(high.view(pa.int32()).cast(pa.int64()), low.view(pa.int32()).cast(pa.int64()))
    if pa.types.is_integer(kind):
        return pc.subtract_checked(high.cast(pa.int64()), low.cast(pa.int64()))
    if pa.types.is_decimal(kind):
        wide = pa.decimal256(_DIGITS + 1, kind.scale)
        return pc.subtract(high.cast(wide), low.cast(wide)).cast(pa.decimal128(min(kind.precision + 1, _DIGITS), kind.scale))
    raise SourceError(f"there is no range of {kind}; take one of numbers, dates or timestamps")


def quotients(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """`above / below` as doubles; the caller masks the rows where `below` is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(above / below, np.float64)
