"""Counts: of all rows, and of rows for which something holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.aggregates.aggregate import Aggregate, Field, expression
from pipelines.aggregates.algebra import SUM

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = Field("rows", "", (("", "count(*)"),), SUM)


def _itself(n: pa.Array) -> pa.Array:
    return n


def present(x: str) -> Field:
    """The number of rows in which `x` is not null."""
    return Field("count", x, (("", f"count({x})"),), SUM)


def count() -> Aggregate:
    """The number of rows."""
    return Aggregate("count", "", (ROWS,), _itself)


def count_if(condition: str) -> Aggregate:
    """The number of rows for which a SQL condition is true."""
    condition = expression(condition, "count_if")
    return Aggregate("count_if", condition, (Field("countif", condition, (("", f"count(*) FILTER (WHERE {condition})"),), SUM),), _itself)
