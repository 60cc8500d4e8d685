"""Covariance, correlation and the line of least squares from co-moments: Pébay (2008), 3.1; see `moments`.

Rows in which either value is null are left out. A mean has two doubles, as in `moments`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import Fold
from muntin.aggregates.moments import counted_columns, doubles, in_full
from muntin.definition.expressions import expression

if TYPE_CHECKING:
    import pyarrow as pa


def _pebay(x, i, y, j, out, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    n, m, a, a_rest, b, b_rest = x[i, 0], y[j, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4]
    aa, bb, ab = x[i, 5] + y[j, 5], x[i, 6] + y[j, 6], x[i, 7] + y[j, 7]
    if n == 0:
        a, a_rest, b, b_rest = y[j, 1], y[j, 2], y[j, 3], y[j, 4]
    elif m > 0:
        share, along, across = (
            n / (n + m) * m,
            (y[j, 1] - a) + (y[j, 2] - a_rest),
            (y[j, 3] - b) + (y[j, 4] - b_rest),
        )
        aa, bb, ab = aa + along * along * share, bb + across * across * share, ab + along * across * share
        if aa == 0 and along != 0:
            aa = 5e-324  # as in moments: 0 says that all values are equal
        if bb == 0 and across != 0:
            bb = 5e-324
        step = a_rest + along * m / (n + m)
        mean = a + step
        a_rest = (a - (mean - (mean - a))) + (step - (mean - a))
        a = mean
        step = b_rest + across * m / (n + m)
        mean = b + step
        b_rest = (b - (mean - (mean - b))) + (step - (mean - b))
        b = mean
    out[k, 0] = n + m
    out[k, 1] = a
    out[k, 2] = a_rest
    out[k, 3] = b
    out[k, 4] = b_rest
    out[k, 5] = aa
    out[k, 6] = bb
    out[k, 7] = ab


def comoments(x: str, y: str) -> Field:
    """The count, both means and their rounding errors, and the sums of products of the distances from the
    means.

    NaN where a value is not finite.
    """
    parts = ("n", "a", "a_rest", "b", "b_rest", "aa", "bb", "ab")
    needs = ((x, "number"), (y, "number"))
    return Field(
        "comoments",
        f"{x}, {y}",
        doubles(a=x, b=y),
        Fold("comoments", _pebay),
        seal=_sealed,
        sealed_as=parts,
        needs=needs,
    )


def _sealed(a: pa.Array, b: pa.Array) -> list[pa.Array]:
    from muntin.engine.reduce.central_moments import comoments

    return counted_columns(comoments(a, b))


def _pair(x: str, y: str, name: str) -> tuple[str, Field]:
    x, y = expression(x, name), expression(y, name)
    return f"{x}, {y}", comoments(x, y)


def _sample(*parts: pa.Array) -> pa.Array:
    return _covariance(parts, 1)


def _population(*parts: pa.Array) -> pa.Array:
    return _covariance(parts, 0)


def _covariance(parts: tuple[pa.Array, ...], fewer: int) -> pa.Array:
    import pyarrow as pa

    from muntin.engine.reduce.exact import quotients

    n, ab = parts[0].to_numpy(), parts[7].to_numpy()
    return pa.array(quotients(ab, n - fewer), mask=n <= fewer)


def _correlation(*parts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    from muntin.engine.reduce.exact import quotients

    aa, bb, ab = (part.to_numpy() for part in parts[5:])
    with np.errstate(all="ignore"):  # of a spread beyond 1e154 with none
        roots = np.sqrt(in_full(aa, 1)) * np.sqrt(in_full(bb, 1))
    return pa.array(np.clip(quotients(ab, roots), -1.0, 1.0), mask=(aa == 0) | (bb == 0))


def _trend(*parts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    from muntin.engine.reduce.exact import quotients

    a, a_rest, b, b_rest, aa, bb, ab = (part.to_numpy() for part in parts[1:])
    with np.errstate(all="ignore"):
        whole = in_full(aa, 1)
        slope = quotients(ab, whole)
        r2 = np.where(bb == 0, 1.0, quotients(ab, np.sqrt(whole) * np.sqrt(in_full(bb, 1))) ** 2)
        columns = [slope, (b - slope * a) + (b_rest - slope * a_rest), np.minimum(r2, 1.0)]
    return pa.StructArray.from_arrays(
        [pa.array(column) for column in columns], ["slope", "intercept", "r2"], mask=pa.array(aa == 0)
    )


def covariance(
    x: str, y: str, *, population: bool = False, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """The covariance of `x` and `y`: of a sample (null below two rows) or the population (null for none)."""
    of, field = _pair(x, y, "covariance")
    return Aggregate("covariance", of, (field,), _population if population else _sample).only(where, **about)


def correlation(x: str, y: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Pearson's correlation of `x` and `y`, from -1 to 1; null where `x` or `y` does not vary."""
    of, field = _pair(x, y, "correlation")
    return Aggregate("correlation", of, (field,), _correlation).only(where, **about)


def linear_trend(x: str, y: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The line of least squares of `y` over `x`: a struct of the doubles slope, intercept
    and r2. Null where `x` does not vary; `r2` is 1 where `y` does not vary.
    """
    of, field = _pair(x, y, "linear_trend")
    return Aggregate("linear_trend", of, (field,), _trend).only(where, **about)
