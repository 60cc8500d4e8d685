"""Skewness and kurtosis from central moments: Pébay, "Formulas for Robust, One-Pass Parallel Computation of
Covariances and Arbitrary-Order Statistical Moments" (2008), 2.1. The mean has two doubles (Knuth's two-sum),
so that an offset of 1e15 costs no digit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import Fold
from muntin.aggregates.moments import counted_columns, doubles
from muntin.definition.expressions import expression

if TYPE_CHECKING:
    import pyarrow as pa


def _pebay(x, i, y, j, out, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    n, m, a, rest = x[i, 0], y[j, 0], x[i, 1], x[i, 2]
    two, three, four = x[i, 3] + y[j, 3], x[i, 4] + y[j, 4], x[i, 5] + y[j, 5]
    if n == 0:
        a, rest = y[j, 1], y[j, 2]
    elif m > 0:
        delta = (y[j, 1] - a) + (y[j, 2] - rest)
        p, q = delta * n / (n + m), delta * m / (n + m)
        four += n * q**4 + m * p**4
        four += 6 * (q * q * x[i, 3] + p * p * y[j, 3]) + 4 * (p * y[j, 4] - q * x[i, 4])
        three += m * p**3 - n * q**3 + 3 * (p * y[j, 3] - q * x[i, 3])
        two += n * q * q + m * p * p
        step = rest + q
        mean = a + step
        back = mean - a
        rest = (a - (mean - back)) + (step - back)
        a = mean
    out[k, 0] = n + m
    out[k, 1] = a
    out[k, 2] = rest
    out[k, 3] = two
    out[k, 4] = three
    out[k, 5] = four


def shape(x: str) -> Field:
    """The count, the mean, its rounding error, and sums of the 2nd to 4th powers of the distances from it.

    NaN where a value is not finite.
    """
    parts = ("n", "mean", "rest", "m2", "m3", "m4")
    return Field(
        "shape",
        x,
        doubles(values=x),
        Fold("shape", _pebay),
        seal=_sealed,
        sealed_as=parts,
        needs=((x, "number"),),
    )


def _sealed(values: pa.Array) -> list[pa.Array]:
    from muntin.engine.reduce.central_moments import moments

    return counted_columns(moments(values, 4))


def _skewness(
    n: pa.Array,
    mean: pa.Array,  # noqa: ARG001 - finish gets every part
    rest: pa.Array,  # noqa: ARG001 - finish gets every part
    m2: pa.Array,
    m3: pa.Array,
    m4: pa.Array,  # noqa: ARG001 - finish gets every part
) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    count, two, three = (column.cast(pa.float64()).to_numpy() for column in (n, m2, m3))
    with np.errstate(all="ignore"):
        skew = count * np.sqrt(count - 1) / (count - 2) * (three / two) / np.sqrt(two)
    return pa.array(skew, mask=(count <= 2) | (two == 0))  # noqa: PLR2004 - the formula divides by n - 2


def _kurtosis(
    n: pa.Array,
    mean: pa.Array,  # noqa: ARG001 - finish gets every part
    rest: pa.Array,  # noqa: ARG001 - finish gets every part
    m2: pa.Array,
    m3: pa.Array,  # noqa: ARG001 - finish gets every part
    m4: pa.Array,
) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    count, two, four = (column.cast(pa.float64()).to_numpy() for column in (n, m2, m4))
    with np.errstate(all="ignore"):
        excess = (
            (count - 1)
            / ((count - 2) * (count - 3))
            * ((count + 1) * count * (four / two / two) - 3 * (count - 1))
        )
    return pa.array(excess, mask=(count <= 3) | (two == 0))  # noqa: PLR2004 - the formula divides by n - 3


def skewness(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The skewness of a sample, G1 (adjusted Fisher-Pearson); null below three values or if all are equal."""
    x = expression(x, "skewness")
    return Aggregate("skewness", x, (shape(x),), _skewness).only(where, **about)


def kurtosis(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The excess kurtosis of a sample, G2; null for fewer than four values, and where all are equal."""
    x = expression(x, "kurtosis")
    return Aggregate("kurtosis", x, (shape(x),), _kurtosis).only(where, **about)
