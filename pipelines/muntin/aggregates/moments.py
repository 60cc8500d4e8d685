"""Variance, skewness and kurtosis from central moments. Sums of squares would lose every digit at an offset
of 1e9; the mean has two doubles (Knuth's two-sum), so that an offset of 1e15 costs no digit. The variance of
a spread beyond 1e154 is infinite; a ratio of powers that a double does not hold to all digits is NaN.

Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances" (1979), 4.
Pébay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and Arbitrary-Order Statistical
Moments" (2008), 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import Fold
from muntin.definition.expressions import Plain, expression

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from muntin.engine.reduce.central_moments import Sums


def doubles(**of: str) -> tuple[tuple[str, str], ...]:
    """(name, lift) for each SQL expression. The lifts give lists of doubles of equal length, nulls included.

    >>> doubles(a="x")
    (('a', 'coalesce(list((x)::DOUBLE), [])'),)
    """
    return tuple((name, Plain(f"coalesce(list(({x})::DOUBLE), [])", "numbers", x)) for name, x in of.items())


def counted_columns(sums: Sums) -> list[pa.Array]:
    """The columns of a matrix. The first column, a count, becomes int64."""
    import pyarrow as pa

    count, *rest = (pa.array(column) for column in sums.T)
    return [count.cast(pa.int64()), *rest]


def _chan(x, i, y, j, out, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    n, m, mean, rest = x[i, 0], y[j, 0], x[i, 1], x[i, 2]
    squares = x[i, 3] + y[j, 3]
    if n == 0:
        mean, rest = y[j, 1], y[j, 2]
    elif m > 0:
        delta = (y[j, 1] - mean) + (y[j, 2] - rest)
        squares += delta * delta * n * m / (n + m)
        if squares == 0 and delta != 0:
            squares = 5e-324  # 0 says that all values are equal
        step = rest + delta * m / (n + m)
        total = mean + step
        back = total - mean
        rest = (mean - (total - back)) + (step - back)
        mean = total
    out[k, 0] = n + m
    out[k, 1] = mean
    out[k, 2] = rest
    out[k, 3] = squares


MOMENTS = Fold("moments", _chan)


def moments(x: str) -> Field:
    """The count, the mean, the rounding error of the mean, and the sum of squared distances from the mean.

    NaN where a value is not finite.
    """
    return Field(
        "moments",
        x,
        doubles(values=x),
        MOMENTS,
        seal=_sealed,
        sealed_as=("n", "mean", "rest", "m2"),
        needs=((x, "number"),),
    )


def _sealed(values: pa.Array) -> list[pa.Array]:
    from muntin.engine.reduce.central_moments import moments

    return counted_columns(moments(values, 2))


def _variance(n: pa.Array, squares: pa.Array, fewer: int) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    freedom = pc.subtract(n, fewer)
    enough = pc.if_else(pc.greater(freedom, 0), freedom, pa.scalar(None, pa.int64()))
    return pc.divide(squares, enough.cast(pa.float64()))


def _sample(n: pa.Array, mean: pa.Array, rest: pa.Array, m2: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return _variance(n, m2, 1)


def _population(n: pa.Array, mean: pa.Array, rest: pa.Array, m2: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return _variance(n, m2, 0)


def _sample_root(n: pa.Array, mean: pa.Array, rest: pa.Array, m2: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.sqrt(_sample(n, mean, rest, m2))


def _population_root(n: pa.Array, mean: pa.Array, rest: pa.Array, m2: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.sqrt(_population(n, mean, rest, m2))


def variance(
    x: str, *, population: bool = False, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """The variance of `x`: of a sample (null below two values), or of the population (null for no value)."""
    x = expression(x, "variance")
    return Aggregate("variance", x, (moments(x),), _population if population else _sample).only(
        where, **about
    )


def stddev(
    x: str, *, population: bool = False, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """The standard deviation of `x`: of a sample (null for fewer than two values), or of the population."""
    x = expression(x, "stddev")
    return Aggregate("stddev", x, (moments(x),), _population_root if population else _sample_root).only(
        where, **about
    )


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
        if two == 0 and delta != 0:
            two = 5e-324  # as above
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
        seal=_sealed_shape,
        sealed_as=parts,
        needs=((x, "number"),),
    )


def _sealed_shape(values: pa.Array) -> list[pa.Array]:
    from muntin.engine.reduce.central_moments import moments

    return counted_columns(moments(values, 4))


ALL_DIGITS = 1e-290
"""A double above it, and a sum of some thousand such doubles, lose no digits."""


def in_full(squares: np.ndarray, power: float) -> np.ndarray:
    """Sums of squares to divide by: NaN where their `power`-th power lacks digits or is infinite."""
    import numpy as np

    of_power = squares**power
    return np.where((squares == 0) | ((of_power > ALL_DIGITS) & (of_power < np.inf)), squares, np.nan)


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
        skew = count * np.sqrt(count - 1) / (count - 2) * (three / in_full(two, 1.5)) / np.sqrt(two)
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
            * ((count + 1) * count * (four / in_full(two, 2) / two) - 3 * (count - 1))
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
