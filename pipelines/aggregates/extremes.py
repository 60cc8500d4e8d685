"""The least and the greatest value. A NaN is greater than any number, as in DuckDB and Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.aggregates.aggregate import Aggregate, Field, expression
from pipelines.aggregates.algebra import Select

if TYPE_CHECKING:
    import pyarrow as pa


def _itself(value: pa.Array) -> pa.Array:
    return value


def min(x: str) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The least value of `x`, of any type that has an order; null where every value is null."""
    x = expression(x, "min")
    return Aggregate("min", x, (Field("min", x, (("", f"min({x})"),), Select("min", by="", least=True)),), _itself)


def max(x: str) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The greatest value of `x`, of any type that has an order; null where every value is null."""
    x = expression(x, "max")
    return Aggregate("max", x, (Field("max", x, (("", f"max({x})"),), Select("max", by="", least=False)),), _itself)
