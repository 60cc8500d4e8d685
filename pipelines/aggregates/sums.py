"""Sums and means. Integers and decimals are exact, and too large a sum is an error; floats are deterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.aggregates.aggregate import Aggregate, Field, expression
from pipelines.aggregates.algebra import SUM
from pipelines.aggregates.counting import present

if TYPE_CHECKING:
    import pyarrow as pa


def total(x: str) -> Field:
    """The sum of `x`, 0 where every value is null."""
    return Field("sum", x, (("", f"coalesce(sum({x}), 0)"),), SUM)


def _sum(n: pa.Array, total: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(n, 0), pa.scalar(None, total.type), total)


def _mean(n: pa.Array, total: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    something = pc.if_else(pc.equal(n, 0), pa.scalar(None, pa.int64()), n)
    return pc.divide(total.cast(pa.float64(), safe=False), something.cast(pa.float64()))


def sum(x: str) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The sum of `x`; null where every value is null."""
    x = expression(x, "sum")
    return Aggregate("sum", x, (present(x), total(x)), _sum)


def mean(x: str) -> Aggregate:
    """The arithmetic mean of `x` as a double; null where every value is null."""
    x = expression(x, "mean")
    return Aggregate("mean", x, (present(x), total(x)), _mean)
