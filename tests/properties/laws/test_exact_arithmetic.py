"""Whatever the page of the aggregates calls right to rounding is so at any magnitude: against fractions, each case a key of one run.

An aggregate that is added to the catalogue as `ROUNDED` is held to it by its own oracle, which is exact over fractions.
"""

import math
import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.engine.lists.neighbours import means_over
from muntin.testing import windows_of
from muntin.testing.oracle.time import Event
from tests.case_counts import cases
from tests.catalogue.accuracy import ROUNDED
from tests.catalogue.aggregates import CARRYING, ROWS, Row
from tests.catalogue.columns import COLUMNS, fixed
from tests.oracle.lasting import Span

START, HOUR_US = datetime(2024, 1, 1, tzinfo=UTC), 3_600_000_000
START_US = int(START.timestamp()) * 1_000_000
HELD = [row for row in (*ROWS, *CARRYING) if row.right is ROUNDED or row.name in ("sum", "mean", "rate")]
X = {
    "huge": [1e200, 3.7e199],
    "tiny": [1e-200, 2.3e-199],
    "plain": [0.1, 123456789.123],
    "mixed": [1e200, 1e-200, 1e16 + 2, 0.1, 1e12, 0.5],
}
N: dict[pa.DataType, dict[str, list[Any]]] = {
    pa.float64(): {"huge": [1e100, 3.7e99], "tiny": [1e-100, 2.3e-99], "plain": [0.1, 3.0], "mixed": [1e100, 1e-100, 1e16 + 2, 0.1, 1.0]},
    pa.int64(): {"huge": [10**16 + 1, 2**53 + 1], "plain": [1, 2, 3], "mixed": [10**16 + 1, 1, 10**12, 7]},
}
TIMES = [1, 2, 3_600_000_000 - 1, 2_400_000_000, 3_599_000_000]


def case(dice: random.Random, key: int, kind: pa.DataType) -> list[dict[str, Any]]:
    """A few rows of a key in two hours, of positive values; some lie a microsecond apart, or at one time."""
    x, n = X[dice.choice([*X])], N[kind][dice.choice([*N[kind]])]
    rows = []
    for t in sorted(dice.choice([*TIMES, dice.randrange(HOUR_US)]) + dice.choice([0, HOUR_US]) for _ in range(dice.randint(1, 7))):
        rows.append(fixed(len(rows)) | {"key": key, "t": START_US + t, "x": dice.choice(x), "n": dice.choice(n)})
    return rows


def wanted(row: Row, rows: list[dict[str, Any]], start: int) -> Any:
    """What the oracle makes of the rows of an hour."""
    own = [each for each in rows if start <= each["t"] < start + HOUR_US]
    if row not in CARRYING:
        exact = row.oracle(own)  # type: ignore[arg-type,misc]
        return exact and exact / 3600 if row.name == "rate" else exact
    of_own, earlier = (
        [Event(each["t"], 0, at, (), each) for at, each in enumerate(some)] for some in (own, [r for r in rows if r["t"] < start])
    )
    return row.oracle(Span(start, start + HOUR_US, of_own, earlier))  # type: ignore[arg-type,misc]


def near(ours: Any, exact: Any) -> bool:
    """Right to twelve digits, of doubles that have sixteen."""
    if isinstance(exact, dict):
        return list(ours) == list(exact) and all(map(near, ours.values(), exact.values()))
    return ours == exact or (None not in (ours, exact) and math.isclose(ours, exact, rel_tol=1e-12, abs_tol=1e-300))


@pytest.mark.parametrize("kind", N, ids=str)
def test_rounding_is_of_the_last_digits_at_any_magnitude(kind: pa.DataType) -> None:
    dice = random.Random(f"magnitudes {kind}")
    every = [case(dice, key, kind) for key in range(cases(20_000))]
    schema = pa.schema([("key", pa.int64()), ("at", pa.timestamp("us", "UTC")), *(COLUMNS | {"n": kind}).items()])
    batches = [
        pa.Table.from_pylist([row | {"at": row["t"]} for rows in every for row in rows if row["t"] // HOUR_US == start // HOUR_US], schema)
        for start in (START_US, START_US + HOUR_US)
    ]
    pipeline = Pipeline(
        name="magnitudes",
        source=sources.files("{start:%Y-%m-%dT%H}.parquet", event_time="at"),
        schedule="1h",
        start=START,
        keys=["key"],
        windows={"hour": windows.tumbling("1h")},
        aggregates={f"a_{at}": row.made() for at, row in enumerate(HELD)},
    )
    found = windows_of(pipeline, batches).to_pylist()
    assert len(found) > len(every)
    for each in found:
        start = int((each["window_start"] - START) / timedelta(microseconds=1)) + START_US
        for at, row in enumerate(HELD):
            exact = wanted(row, every[each["key"]], start)
            assert near(each[f"a_{at}"], exact), (row.call, each[f"a_{at}"], exact, every[each["key"]])


# |123456789.123                  for a microsecond
# |             |0.1   |          to the end of the hour: the digits of 0.1 count, too
def test_a_mean_over_time_is_the_nearest_double_whatever_the_signs() -> None:
    dice = random.Random("signs")
    for _ in range(cases(20_000)):
        magnitudes = [1e200, 1e-200, 1e16 + 2, 0.1, 123456789.123, dice.uniform(0, 1), 1.7e308, 5e-324]
        levels = [dice.choice([1, -1]) * dice.choice(magnitudes) for _ in range(dice.randint(1, 9))]
        lengths = [dice.choice([1, dice.randint(1, 10**6), HOUR_US, 10**15]) for _ in levels]
        span = sum(lengths)
        of_exact = sum(Fraction(level) * length for level, length in zip(levels, lengths, strict=True)) / span
        ours = means_over(np.zeros(len(levels), np.int64), np.array(levels), np.array(lengths), np.array([span]))[0]
        assert abs(Fraction(ours) - Fraction(float(of_exact))) <= Fraction(max(map(abs, levels))) / 10**28 + Fraction(5e-324), levels
        assert ours == of_exact or len({*levels}) > 1


@pytest.mark.parametrize(
    ("levels", "mean"), [([math.inf, 1e308], math.inf), ([math.inf, -math.inf], math.nan), ([1.0, math.nan], math.nan)]
)
def test_what_is_not_finite_has_a_mean_as_ieee_has_it(levels: list[float], mean: float) -> None:
    ours = means_over(np.zeros(2, np.int64), np.array(levels), np.array([1, 3]), np.array([4]))[0]
    assert ours == mean or math.isnan(ours) == math.isnan(mean)


# values x 2**scale: |0 ... -1022 |-960     -240     240      500|512 ... 1015|
#                    squares: 0   |lack digits, or powers do    |infinite    |
@pytest.mark.parametrize("values", [[1.0, 2.0, 5.0, 11.0], [-7.0, 0.5, 3.0, 3.0, 1e9]], ids=["near", "far"])
def test_a_moment_of_any_magnitude_is_right_or_no_number(values: list[float]) -> None:
    """Scaled by a power of two, a ratio of moments stays the same to the bit, and what follows the squares is scaled like them."""
    scales = [0, *range(-1074, 985, 7)]
    at = [START + timedelta(minutes=25 * place) for place in range(len(values))]  # of two batches
    rows = [
        {"key": scale, "at": time, "x": math.ldexp(value, scale), "y": math.ldexp(value * value - value, scale // 2)}
        for scale in scales
        for time, value in zip(at, values, strict=True)
    ]
    pipeline = Pipeline(
        name="scaled",
        source=sources.files("{start:%Y-%m-%dT%H}.parquet", event_time="at"),
        schedule="1h",
        start=START,
        keys=["key"],
        windows={"both": windows.tumbling("2h")},
        aggregates={
            "skewness": agg.skewness("x"),
            "kurtosis": agg.kurtosis("x"),
            "correlation": agg.correlation("x", "y"),
            "trend": agg.linear_trend("y", "x"),
            "variance": agg.variance("x"),
            "stddev": agg.stddev("x"),
        },
    )
    batches = [pa.Table.from_pylist([row for row in rows if row["at"].hour == hour]) for hour in (0, 1)]
    by_scale = {window["key"]: window for window in windows_of(pipeline, batches).to_pylist()}
    plain = by_scale[0]
    for scale, window in by_scale.items():
        usual = -200 < scale < 200
        for of in (window, plain):
            of["r2"] = of["trend"]["r2"]
        for name in ("skewness", "kurtosis", "correlation", "r2"):
            assert window[name] == plain[name] or (not usual and math.isnan(window[name])), (scale, name)
        squares = Fraction(plain["variance"]) * Fraction(2) ** (2 * scale)
        largest = window["variance"] == math.inf and squares > 1e300
        assert largest or abs(Fraction(window["variance"]) - squares) <= squares / 10**12 + Fraction(5e-324) * len(values), scale
        assert window["stddev"] == math.sqrt(window["variance"])
