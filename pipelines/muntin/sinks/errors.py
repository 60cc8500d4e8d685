"""The errors of a sink. They stop no run: windows are published, and what the sink lacks is sent later.

Values as JSON has them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class SinkError(Exception):
    """Changes could not be sent, as when a server is down.

    The text names the address and what mends it, and holds no secret.
    """


class BlockedError(SinkError):
    """A sink refuses what it is sent, and no later run mends that by itself: a person has to act."""


class MovedError(Exception):
    """Another run sent to this sink meanwhile: its missing changes must be worked out again."""


class AllNeededError(Exception):
    """The changes alone would not do: all windows must be sent.

    The text says why, as the end of "all windows, since ...".
    """


class RefusedError(Exception):
    """Values of some rows do not fit the sink.

    Attributes:
        column: the column whose values do not fit; "": it is not known.
    """

    def __init__(self, text: str, column: str = "") -> None:
        super().__init__(text)
        self.column = column


def as_json(value: Any) -> str:  # noqa: ANN401 - whatever Arrow holds
    """A value as compact JSON: instants as ISO text; what JSON does not know, as NaN, as text.

    >>> as_json({"n": 1, "mean": float("nan"), "at": datetime(2013, 1, 1)})
    '{"n":1,"mean":"nan","at":"2013-01-01T00:00:00"}'
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plain_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows as Python has them. Columns with days or instants that Python does not know, as the year 12345, as
    text.

    Raises:
        RefusedError: a list or a struct holds such a value.
    """
    try:
        return rows.to_pylist()
    except (OverflowError, ValueError):
        columns = [_values(rows, name) for name in rows.column_names]
        return [dict(zip(rows.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def widest(row: Mapping[str, Any]) -> str:
    """The column that takes most room in a message."""
    lengths = {name: len(as_json(value)) for name, value in row.items()}
    return max(lengths, key=lambda name: lengths[name])


def _values(rows: pa.Table, name: str) -> list[Any]:
    try:
        return rows[name].to_pylist()
    except (OverflowError, ValueError) as wrong:
        if rows.schema.field(name).type.num_fields:
            raise RefusedError(str(wrong), name) from None
        return rows[name].cast("string").to_pylist()


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


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are bytes."""
    import pyarrow as pa

    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
