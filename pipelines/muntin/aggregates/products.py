"""Products, geometric and harmonic means, by logarithms and reciprocals: values do not overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import SUM
from muntin.aggregates.counting import present
from muntin.aggregates.sums import quotient
from muntin.definition.expressions import expression

if TYPE_CHECKING:
    import pyarrow as pa


def logarithms(x: str) -> Field:
    """The sum of ln |x|, -inf for a zero."""
    size = f"abs(({x})::DOUBLE)"
    lift = f"coalesce(sum(CASE WHEN {size} = 0 THEN '-inf'::DOUBLE ELSE ln({size}) END), 0)"
    return Field("logs", x, (("", lift),), SUM, needs=((x, "number"),))


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
    size = f"abs(({x})::DOUBLE)"
    lift = f"coalesce(sum(CASE WHEN {size} = 0 THEN 'inf'::DOUBLE ELSE 1 / {size} END), 0)"
    return Field("reciprocals", x, (("", lift),), SUM, needs=((x, "number"),))


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
