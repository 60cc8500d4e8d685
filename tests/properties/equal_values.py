"""Two ways to be equal: as numbers, and to the last bit."""

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def alike(ours: Any, theirs: Any) -> bool:
    """Lists of values: floats to rounding, all else exactly; NaN is NaN. So within structs and maps."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and alike(list(ours.values()), list(theirs.values()))
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-6)
    return type(ours) is type(theirs) and ours == theirs


def bitwise(ours: pa.Table, theirs: pa.Table) -> bool:
    """Equal to the last bit, zeros by their sign, every NaN alike."""
    if ours.schema != theirs.schema or len(ours) != len(theirs):
        return False
    return all(map(_same, ours.columns, theirs.columns))


def _same(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> bool:
    if not pa.types.is_floating(ours.type):
        return bool(ours.equals(theirs))
    return bool(_bits(ours).equals(_bits(theirs)))


def _bits(column: pa.ChunkedArray) -> pa.Array:
    whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    return pc.if_else(pc.is_nan(whole), math.nan, whole).view(pa.int64())
