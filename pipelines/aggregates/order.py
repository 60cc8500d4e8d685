"""First and last by (event time, arrival), by arrival in arrival windows: the value that row has, null included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.aggregates.aggregate import ORDER, ORDINAL, Aggregate, Field, expression
from pipelines.aggregates.algebra import Select

if TYPE_CHECKING:
    import pyarrow as pa

# Event time and position in the batch in one number: DuckDB compares it far faster than a struct of the two.
_PLACE = f"({ORDER}::HUGEINT * 1152921504606846976 + {ORDINAL})"


def _value(time: pa.Array, value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return value


def first(x: str) -> Aggregate:
    """The value of `x` in the earliest row; of rows at one time the first to arrive."""
    x = expression(x, "first")
    parts = (("time", f"min({ORDER})"), ("value", f"arg_min_null({x}, {_PLACE})"))
    return Aggregate("first", x, (Field("first", x, parts, Select("first", by="time", least=True), uses_order=True),), _value)


def last(x: str) -> Aggregate:
    """The value of `x` in the latest row; of rows at one time the last to arrive."""
    x = expression(x, "last")
    parts = (("time", f"max({ORDER})"), ("value", f"arg_max_null({x}, {_PLACE})"))
    return Aggregate("last", x, (Field("last", x, parts, Select("last", by="time", least=False, newest=True), uses_order=True),), _value)
