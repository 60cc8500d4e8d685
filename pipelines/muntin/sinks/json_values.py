"""Values as JSON has them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def as_json(value: Any) -> str:  # noqa: ANN401 - whatever Arrow holds
    """A value as compact JSON: instants as ISO text; what JSON does not know, as NaN, as text.

    >>> as_json({"n": 1, "mean": float("nan"), "at": datetime(2013, 1, 1)})
    '{"n":1,"mean":"nan","at":"2013-01-01T00:00:00"}'
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plain_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows as Python has them. Columns with days or instants that Python does not know, as the year 12345, as text."""
    try:
        return rows.to_pylist()
    except (OverflowError, ValueError):
        return [dict(zip(rows.column_names, row, strict=True)) for row in zip(*map(_values, rows.columns), strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    try:
        return column.to_pylist()
    except (OverflowError, ValueError):
        return column.cast("string").to_pylist()


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)
