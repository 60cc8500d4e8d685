"""Sums and means. Sums of integers and decimals are exact; a sum that does not fit is an error. Floats are
deterministic.

With `distinct=True` they share the field of `count_distinct`, which keeps each value once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import SUM
from muntin.aggregates.counting import ROW_COUNT, present
from muntin.aggregates.distribution import counts_of
from muntin.definition.expressions import Plain, expression

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
    from muntin.engine.lists.groups import summed

    return summed(values)


def _middle(values: pa.Array, counts: pa.Array) -> pa.Array:
    from muntin.engine.reduce.exact import exact_quotients

    return exact_quotients(_total(values, counts), values.value_lengths())


def total(x: str) -> Field:
    """The sum of `x`, 0 where every value is null."""
    return Field("sum", x, (("", Plain(f"coalesce(sum({x}), 0)", "sum", x)),), SUM)


def weighted(x: str, w: str) -> Field:
    """The sums of `x * w` and of `w`, as doubles, over the rows in which neither is null."""
    both = f"FILTER (WHERE ({x}) IS NOT NULL AND ({w}) IS NOT NULL)"
    lifts = (
        ("total", f"coalesce(sum(({x})::DOUBLE * ({w})::DOUBLE), 0)"),
        ("weight", f"coalesce(sum(({w})::DOUBLE) {both}, 0)"),
    )
    return Field("weighted", f"{x}, {w}", lifts, SUM, needs=((x, "number"), (w, "number")))


def _sum(n: pa.Array, total: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(n, 0), pa.scalar(None, total.type), total)


def _mean(n: pa.Array, total: pa.Array) -> pa.Array:
    from muntin.engine.reduce.exact import exact_quotients

    return exact_quotients(total, n)


def quotient(above: pa.Array, below: pa.Array) -> pa.Array:
    """The quotients of two columns of doubles; null where the divisor is 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.divide(above, pc.if_else(pc.equal(below, 0), pa.scalar(None, pa.float64()), below))


def sum(x: str, *, distinct: bool = False, where: str | None = None, **about: Unpack[About]) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The sum of `x`; null where every value is null. `distinct`: each value once."""
    x = expression(x, "sum")
    return (sum_distinct(x) if distinct else Aggregate("sum", x, (present(x), total(x)), _sum)).only(
        where, **about
    )


def mean(x: str, *, distinct: bool = False, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The arithmetic mean of `x` as a double; null where every value is null. `distinct`: each value once.

    Of integers and decimals it is the double nearest to the exact quotient.
    """
    x = expression(x, "mean")
    return (mean_distinct(x) if distinct else Aggregate("mean", x, (present(x), total(x)), _mean)).only(
        where, **about
    )


def weighted_mean(x: str, w: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The mean of `x` with weights `w` as a double: `sum(x * w) / sum(w)` over the rows in which neither is
    null.

    Null where the sum of the weights is 0.
    """
    x, w = expression(x, "weighted_mean"), expression(w, "weighted_mean")
    return Aggregate("weighted_mean", f"{x}, {w}", (weighted(x, w),), quotient).only(where, **about)


def _rate(n: pa.Array, start: pa.Array, end: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    length = pc.subtract(end.cast(pa.int64()), start.cast(pa.int64()))
    return quotient(n.cast(pa.float64(), safe=False), pc.divide(length.cast(pa.float64()), 1e6))


def _sum_rate(n: pa.Array, total: pa.Array, start: pa.Array, end: pa.Array) -> pa.Array:
    return _rate(_sum(n, total), start, end)


def rate(x: str | None = None, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Rows per second of the window's length, or with `x`, the sum of `x` per second, as a double.

    Null where every value of `x` is null, and where the window has no length.
    """
    if x is None:
        return Aggregate("rate", "", (ROW_COUNT,), _rate, uses_window=True).only(where, **about)
    x = expression(x, "rate")
    return Aggregate("rate", x, (present(x), total(x)), _sum_rate, uses_window=True).only(where, **about)
