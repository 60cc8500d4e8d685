"""Ranges of a file's columns in Delta's log, by which readers skip files that cannot hold what they ask for.

A wrong range makes rows disappear, and so does a missing range: deltalake's dataset takes such a column for
empty if other columns have ranges, and each value of a struct for not null. So a file has ranges of all its
columns, or none. https://github.com/delta-io/delta/blob/master/PROTOCOL.md#per-file-statistics
"""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal
from functools import singledispatch
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

RANGES = b"muntin_ranges"
"""The key of a Parquet file's footer that has the ranges, as the log is to have them."""
_MOST_COLUMNS = 40  # more would make the log longer than what is read by it
_MOST_LETTERS = 32
_LAST_LETTER = "\U0010ffff"
_SURE_DIGITS = 15  # readers take decimals in JSON for doubles


class _NoRangeError(Exception):
    """A column has values that JSON, or another reader's order, does not have."""


def ranges_of(table: pa.Table) -> bytes:
    """The nulls and the ends of a file's columns as JSON for the log; b"" where it says nothing."""
    if any(pa.types.is_struct(column.type) and column.null_count for column in table.columns):
        return b""
    columns = {
        name: table[name] for name in table.column_names if not _without_order(table.schema.field(name).type)
    }
    if len(columns) > _MOST_COLUMNS or not len(table):
        return b""
    try:
        ends = {name: _ends(column) for name, column in columns.items() if column.null_count < len(column)}
    except (_NoRangeError, ValueError, OverflowError):  # an instant that Python has none for
        return b""
    least, greatest = ({name: pair[at] for name, pair in ends.items()} for at in (0, 1))
    nulls = {name: column.null_count for name, column in columns.items()}
    return json.dumps(
        {"minValues": least, "maxValues": greatest, "nullCount": nulls}, ensure_ascii=False
    ).encode()


def stats(rows: int, footer: pq.FileMetaData, schema: pa.Schema) -> str:
    """The statistics of a file for the log; `schema`: of the table: a column of another type has none."""
    text = (footer.metadata or {}).get(RANGES)
    same = text and {each.name: each.type for each in footer.schema.to_arrow_schema()} == {
        each.name: each.type for each in schema
    }
    return json.dumps({"numRecords": rows, **(json.loads(text) if text and same else {})}, ensure_ascii=False)


def ends(text: str | bytes | None) -> dict[str, list[Any]]:
    """Column -> the ends that a text of ranges holds; {} without ranges.

    >>> ends('{"minValues": {"user": "ann"}, "maxValues": {"user": "zoe"}, "nullCount": {"user": 0}}')
    {'user': ['ann', 'zoe']}
    """
    ends_of: dict[str, list[Any]] = {}
    stats = json.loads(text or "{}")
    for side in ("minValues", "maxValues"):
        for name, value in (stats.get(side) or {}).items():
            ends_of.setdefault(name, []).append(value)
    return ends_of


def is_end_of(end: str, text: str) -> bool:
    """Whether an end of a range was cut from a longer text.

    >>> x = "x" * 32
    >>> is_end_of(x, "x" * 40), is_end_of(x + "\U0010ffff", "x" * 40), is_end_of(x, x)
    (True, True, False)
    """
    return len(text) > _MOST_LETTERS <= len(end) and whole_letters(end) == text[:_MOST_LETTERS]


def whole_letters(end: str) -> str:
    """The part of a text that an end of a range has."""
    return end[:_MOST_LETTERS]


def named_without_nan(table: pa.Table) -> list[str] | None:
    """The columns whose ranges Parquet's own footer may have, where other columns have NaN; None: all
    columns.

    Writers leave NaN out of ranges, and Spark, for which NaN is the greatest value, skips rows by them.
    """
    odd = {name for name in table.column_names if _has_nan(table[name])}
    return [name for name in table.column_names if name not in odd] if odd else None


def _has_nan(column: pa.ChunkedArray) -> bool:
    if pa.types.is_struct(column.type):
        return any(map(_has_nan, column.flatten()))
    return (
        pa.types.is_floating(column.type)
        and column.null_count < len(column)
        and bool(np.isnan(_floats(column).min()))
    )


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    """The values of a column of floats, without nulls: numpy's ends of them are NaN where a value is NaN."""
    return column.drop_null().to_numpy()


def _without_order(kind: pa.DataType) -> bool:
    """Whether Delta has no ranges of a type."""
    return pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _ends(column: pa.ChunkedArray) -> tuple[Any, Any]:
    """The least and the greatest value of a column with values, as JSON has them."""
    if pa.types.is_floating(column.type):
        least = float((values := _floats(column)).min())
        greatest = float(values.max())
        if not math.isfinite(least) or not math.isfinite(greatest):
            raise _NoRangeError
    else:
        least, greatest = pc.min_max(column).as_py().values()
    return _end_of(least, -1), _end_of(greatest, 1)


@singledispatch
def _end_of(value: Any, sign: int) -> Any:  # noqa: ANN401, ARG001 - of any type
    """An end of a range as JSON has it, or a value outside of it; `sign`: 1 upper end, -1 lower end."""
    raise _NoRangeError


@_end_of.register(int)
def _(value: int, _sign: int) -> int:
    return value


@_end_of.register(float)
def _(value: float, sign: int) -> float:
    return value or math.copysign(0.0, sign)


@_end_of.register(Decimal)
def _(value: Decimal, _sign: int) -> float:
    if len(value.normalize().as_tuple().digits) > _SURE_DIGITS:
        raise _NoRangeError
    return float(value)


@_end_of.register(str)
def _(value: str, sign: int) -> str:
    if len(value) <= _MOST_LETTERS:
        return value
    if sign > 0 and value[_MOST_LETTERS] == _LAST_LETTER:
        raise _NoRangeError
    return value[:_MOST_LETTERS] + (_LAST_LETTER if sign > 0 else "")


@_end_of.register(date)
def _(value: date, _sign: int) -> str:
    return value.isoformat()


@_end_of.register(datetime)
def _(value: datetime, _sign: int) -> str:
    text = value.isoformat(timespec="milliseconds")  # cut: readers add a millisecond to the upper end
    return text.removesuffix("+00:00") + "Z" if value.tzinfo else text.replace("T", " ")
