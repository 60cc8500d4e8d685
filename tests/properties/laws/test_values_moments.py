"""Moments, co-moments, means and products against exact fractions, scipy's and DuckDB's words, on data that hurts."""

import math
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import scipy.stats

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from tests.oracle import catalogue as by
from tests.properties.laws.values import over

NAN, INF = math.nan, math.inf
F64 = pa.float64()
SMALL = [4.0, 7.0, 13.0, 16.0, 1.0, 1.0]
FAR = [1e15 + v for v in SMALL]
DICE = np.random.default_rng(7)
SAMPLES = {
    "small": SMALL,
    "offset of 1e15": FAR,
    "negative offset": [-v for v in FAR],
    "normal": DICE.normal(size=40).tolist(),
    "skewed": DICE.exponential(size=40).tolist(),
    "tiny": [v * 1e-60 for v in SMALL],
    "three": [1.0, 2.0, 4.0],
    "two": [1.0, 2.0],
    "one": [3.0],
    "equal": [0.1] * 7,
    "none": [],
    "with nulls": [None, 1.0, None, 2.0, 5.0, 8.0],
}


def approx(value: Any) -> Any:
    return value if value is None else pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_skewness_and_kurtosis_are_exact_to_nine_digits(name: str) -> None:
    rows = [{"x": x} for x in SAMPLES[name]]
    assert over(agg.skewness("x"), F64, SAMPLES[name]) == approx(by.skewness(rows, by.column("x")))
    assert over(agg.kurtosis("x"), F64, SAMPLES[name]) == approx(by.kurtosis(rows, by.column("x")))


@pytest.mark.parametrize("name", ["small", "normal", "skewed"])
def test_as_scipy_and_duckdb_say(name: str) -> None:
    x = SAMPLES[name]
    y = [v * v + at for at, v in enumerate(x)]
    xy = duckdb.from_arrow(pa.table({"x": x, "y": y}))
    said = xy.aggregate("skewness(x), kurtosis(x), covar_samp(y, x), covar_pop(y, x), corr(y, x), stddev(x), var_pop(x)").fetchall()[0]
    ours = [agg.skewness("x"), agg.kurtosis("x"), agg.covariance("x", "y"), agg.covariance("x", "y", population=True)]
    ours += [agg.correlation("x", "y"), agg.stddev("x"), agg.variance("x", population=True)]
    assert [over(each, F64, x, y) for each in ours] == pytest.approx(list(said), rel=1e-9)
    assert over(agg.skewness("x"), F64, x) == pytest.approx(scipy.stats.skew(x, bias=False))
    assert over(agg.kurtosis("x"), F64, x) == pytest.approx(scipy.stats.kurtosis(x, bias=False))
    line = scipy.stats.linregress(x, y)
    assert over(agg.linear_trend("x", "y"), F64, x, y) == pytest.approx(
        {"slope": line.slope, "intercept": line.intercept, "r2": line.rvalue**2}
    )


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e15])
def test_pairs_at_an_offset(offset: float) -> None:
    x, y = [offset + v for v in SMALL], [offset - 2 * v + at for at, v in enumerate(SMALL)]
    rows = [{"x": a, "y": b} for a, b in zip(x, y, strict=True)]
    columns = by.column("x"), by.column("y")
    assert over(agg.covariance("x", "y"), F64, x, y) == approx(by.covariance(rows, *columns))
    assert over(agg.correlation("x", "y"), F64, x, y) == approx(by.correlation(rows, *columns))
    trend, said = over(agg.linear_trend("x", "y"), F64, x, y), by.linear_trend(rows, *columns)
    assert (trend["slope"], trend["r2"], trend["intercept"]) == (approx(said["slope"]), approx(said["r2"]), approx(said["intercept"]))


PAIRS: list[tuple[str, Aggregate, list[Any], list[Any], Any]] = [
    ("rows with a null are left out", agg.covariance("x", "y"), [1.0, None, 3.0, 9.0], [1.0, 5.0, 5.0, None], 4.0),
    ("covariance of one row", agg.covariance("x", "y"), [1.0], [2.0], None),
    ("of the population of one", agg.covariance("x", "y", population=True), [1.0], [2.0], 0.0),
    ("of no row", agg.covariance("x", "y", population=True), [], [], None),
    ("not finite", agg.covariance("x", "y"), [1.0, INF], [2.0, 3.0], NAN),
    ("nowhere to go", agg.correlation("x", "y"), [0.1] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], None),
    ("a straight line", agg.correlation("x", "y"), [0.1, 0.2, 0.3], [-0.1, -0.2, -0.3], -1.0),
    ("no slope", agg.linear_trend("x", "y"), [0.1] * 3, [1.0, 2.0, 3.0], None),
    ("level", agg.linear_trend("x", "y"), [1.0, 2.0, 3.0], [0.1] * 3, {"slope": 0.0, "intercept": 0.1, "r2": 1.0}),
    ("up", agg.linear_trend("x", "y"), [1.0, 2.0, 3.0], [3.0, 5.0, 7.0], {"slope": 2.0, "intercept": 1.0, "r2": 1.0}),
    ("weights", agg.weighted_mean("x", "y"), [1.0, 2.0, None, 4.0], [1.0, 3.0, 9.0, None], 1.75),
    ("weights that add up to nothing", agg.weighted_mean("x", "y"), [1.0, 2.0], [1.0, -1.0], None),
    ("no weights", agg.weighted_mean("x", "y"), [], [], None),
    ("an infinite weight", agg.weighted_mean("x", "y"), [1.0, 2.0], [1.0, INF], NAN),
]


@pytest.mark.parametrize(("aggregate", "x", "y", "right"), [pytest.param(*rest, id=name) for name, *rest in PAIRS])
def test_pairs(aggregate: Aggregate, x: list[Any], y: list[Any], right: Any) -> None:
    assert over(aggregate, F64, x, y or None) == (pytest.approx(right, nan_ok=True) if right is not None else None)


ONES: list[tuple[str, Aggregate, pa.DataType, list[Any], Any]] = [
    ("product", agg.product("x"), F64, [2.0, -3.0, 4.0], -24.0),
    ("product beyond doubles on the way", agg.product("x"), F64, [1e300, 1e300, 1e-300, 1e-300, -2.0], -2.0),
    ("product with a zero", agg.product("x"), F64, [2.0, -0.0, 4.0], 0.0),
    ("product with a NaN", agg.product("x"), F64, [2.0, NAN], NAN),
    ("product of nothing", agg.product("x"), F64, [None], None),
    ("product of decimals", agg.product("x"), pa.decimal128(38, 2), [Decimal("0.25"), Decimal(8)], 2.0),
    ("geometric mean", agg.geometric_mean("x"), F64, [1.0, 10.0, 100.0, None], 10.0),
    ("geometric mean with a zero", agg.geometric_mean("x"), F64, [1.0, 0.0], 0.0),
    ("geometric mean below zero", agg.geometric_mean("x"), F64, [1.0, -1.0], NAN),
    ("geometric mean of large integers", agg.geometric_mean("x"), pa.int64(), [2**62, 2**62], 2.0**62),
    ("geometric mean of nothing", agg.geometric_mean("x"), F64, [], None),
    ("rate of rows", agg.rate(), F64, [1.0, None, 2.0], 3 / 20),
    ("rate of a sum", agg.rate("x"), F64, [1.0, None, 2.0], 3 / 20),
    ("rate of nothing", agg.rate("x"), F64, [None], None),
    ("skewness of what is not finite", agg.skewness("x"), F64, [1.0, 2.0, INF, 3.0], NAN),
    ("kurtosis of a NaN", agg.kurtosis("x"), F64, [1.0, 2.0, NAN, 3.0], NAN),
    ("skewness of integers", agg.skewness("x"), pa.int64(), [2**60, 2**60, 2**60 + 2**40], math.sqrt(3)),
    ("stddev of one", agg.stddev("x"), F64, [5.0], None),
    ("sums that cancel", agg.mean("x"), F64, [1.0, 2.0, 3.0, 4.0] * 3, 2.5),
]


@pytest.mark.parametrize(("aggregate", "kind", "x", "right"), [pytest.param(*rest, id=name) for name, *rest in ONES])
def test_ones(aggregate: Aggregate, kind: pa.DataType, x: list[Any], right: Any) -> None:
    assert over(aggregate, kind, x) == (pytest.approx(right, nan_ok=True) if right is not None else None)


# 1e300 1 1e300 1: powers leave the doubles' range; the answer is no number, never a wrong one
@pytest.mark.parametrize("aggregate", [agg.skewness("x"), agg.kurtosis("x")])
def test_powers_beyond_doubles(aggregate: Aggregate) -> None:
    assert math.isnan(over(aggregate, F64, [1e300, 1.0, 1e300, 1.0]))
