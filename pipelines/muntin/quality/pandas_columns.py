"""Columns of Arrow as columns of pandas that hold the same values: no integer becomes a float, no NaN a null."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

if TYPE_CHECKING:
    import pandas as pd


class _NaN:
    """NaN as Spark orders it: equal to itself, and larger than any other number."""

    def __eq__(self, other: object) -> bool:
        return other is self

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(_NaN)


SPARK_NAN = _NaN()
"""Stands for NaN, which pandas takes for a null."""


def as_pandas(column: pa.ChunkedArray) -> pd.Series:
    """The values for pandas: a null is None, in floats NaN (a NaN is `SPARK_NAN` there), in instants NaT."""
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_floating(column.type):
        return _floats(column.cast(pa.float64()))
    if types.is_signed_integer(column.type):
        column = column.cast(pa.int64())
    if types.is_timestamp(column.type) or (types.is_primitive(column.type) and not column.null_count and not types.is_date(column.type)):
        return column.to_pandas()
    return _objects(column.to_pylist())


def _floats(column: pa.ChunkedArray) -> pd.Series:
    wrong = pc.is_nan(column).fill_null(False).to_numpy()  # noqa: FBT003 - Arrow's signature
    if not wrong.any():
        return column.to_pandas()
    values = column.to_pandas().astype(object)  # a null stays NaN here, too: a row of two nulls holds one value, not two
    values[wrong] = SPARK_NAN
    return values


def _objects(values: list[object]) -> pd.Series:
    import numpy as np
    import pandas as pd

    held = np.empty(len(values), object)
    held[:] = values
    return pd.Series(held)
