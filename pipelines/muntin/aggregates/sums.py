"""Sums, means and products. Sums of integers and decimals are exact; a sum that does not fit is an error.
Floats are deterministic.

With `distinct=True` they share the field of `count_distinct`, which keeps each value once. Products,
geometric and harmonic means go by logarithms and reciprocals: values do not overflow.
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
    x = expression(x, "weighted_mean")
    w = expression(w, "weighted_mean")
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


def logarithms(x: str) -> Field:
    """The sum of ln |x|, -inf for a zero."""
    return _of_sizes("logs", x, "-inf", "ln({})")


def negatives(x: str) -> Field:
    """The number of rows in which `x` is below 0."""
    return Field("negatives", x, (("", f"count(*) FILTER (WHERE ({x}) < 0)"),), SUM)


def _product(n: pa.Array, logs: pa.Array, negative: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    size = pc.exp(pc.if_else(pc.equal(n, 0), pa.scalar(None, pa.float64()), logs))
    odd = pc.equal(pc.bit_wise_and(negative, 1), 1)
    return pc.if_else(odd, pc.negate(size), size)


def _geometric_mean(n: pa.Array, logs: pa.Array, negative: pa.Array) -> pa.Array:
    import math

    import pyarrow as pa
    import pyarrow.compute as pc

    mean = pc.exp(quotient(logs, n.cast(pa.float64())))
    return pc.if_else(pc.greater(negative, 0), pa.scalar(math.nan), mean)


def product(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The product of `x` as a double, right to rounding; null where every value is null."""
    x = expression(x, "product")
    return Aggregate("product", x, (present(x), logarithms(x), negatives(x)), _product).only(where, **about)


def geometric_mean(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The geometric mean of `x`: 0 if a value is 0, NaN if a value is negative, null where all are null."""
    x = expression(x, "geometric_mean")
    return Aggregate("geometric_mean", x, (present(x), logarithms(x), negatives(x)), _geometric_mean).only(
        where, **about
    )


def reciprocals(x: str) -> Field:
    """The sum of 1 / |x|, inf for a zero."""
    return _of_sizes("reciprocals", x, "inf", "1 / {}")


def _of_sizes(name: str, x: str, of_zero: str, value: str) -> Field:
    size = f"abs(({x})::DOUBLE)"
    lift = f"coalesce(sum(CASE WHEN {size} = 0 THEN '{of_zero}'::DOUBLE ELSE {value.format(size)} END), 0)"
    return Field(name, x, (("", lift),), SUM, needs=((x, "number"),))


def harmonic_mean(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The harmonic mean of `x`: 0 if a value is 0, NaN if a value is negative, null where all are null."""
    x = expression(x, "harmonic_mean")
    return Aggregate("harmonic_mean", x, (present(x), reciprocals(x), negatives(x)), _harmonic_mean).only(
        where, **about
    )


def _harmonic_mean(n: pa.Array, total: pa.Array, negative: pa.Array) -> pa.Array:
    import math

    import pyarrow as pa
    import pyarrow.compute as pc

    mean = quotient(n.cast(pa.float64()), pc.if_else(pc.equal(n, 0), pa.scalar(0.0), total))
    return pc.if_else(pc.greater(negative, 0), pa.scalar(math.nan), mean)
