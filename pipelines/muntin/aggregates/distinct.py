"""Sums and means of distinct values, for `sum(x, distinct=True)` and `mean(x, distinct=True)`.

They share the field of `count_distinct`, which keeps each value once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import Aggregate
from muntin.aggregates.distribution import counts_of
from muntin.definition.expressions import expression

if TYPE_CHECKING:
    import pyarrow as pa


def sum_distinct(x: str) -> Aggregate:
    """The sum of the distinct values of `x`; null where every value is null."""
    x = expression(x, "sum")
    return Aggregate("sum", f"DISTINCT {x}", (counts_of(x, "number"),), _total)


def mean_distinct(x: str) -> Aggregate:
    """The mean of the distinct values of `x` as a double; null where every value is null."""
    x = expression(x, "mean")
    return Aggregate("mean", f"DISTINCT {x}", (counts_of(x, "number"),), _middle)


def _total(values: pa.Array, counts: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    from muntin.engine.lists.counted import summed

    return summed(values)


def _middle(values: pa.Array, counts: pa.Array) -> pa.Array:
    from muntin.engine.reduce.exact_quotients import exact_quotients

    return exact_quotients(_total(values, counts), values.value_lengths())
