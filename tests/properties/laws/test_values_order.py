"""Extremes, order and time on data that hurts: every type, ties, nulls, NaN, both zeros, the edges of int64."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import DefinitionError, SourceError
from tests.properties.equal_values import alike
from tests.properties.laws.values import over

NAN, INF = math.nan, math.inf
F64, I64, TEXT = pa.float64(), pa.int64(), pa.string()
EDGE = 2**63 - 1
WIDE, LESS = Decimal("9" * 35 + ".999"), Decimal("9" * 34 + "8.999")
NOON = datetime(2024, 2, 29, 12, tzinfo=UTC)
DAY = date(2024, 2, 29)

ONES: list[tuple[str, Aggregate, pa.DataType, list[Any], Any]] = [
    ("top", agg.max("x", n=2), I64, [3, None, EDGE, -EDGE - 1, 7], [EDGE, 7]),
    ("top of fewer", agg.max("x", n=3), I64, [1], [1]),
    ("top of nothing", agg.max("x", n=3), I64, [None], None),
    ("top with NaN", agg.max("x", n=2), F64, [1.0, NAN, INF], [NAN, INF]),
    ("top of ties", agg.max("x", n=3), I64, [2, 2, 1, 2], [2, 2, 2]),
    ("top of texts", agg.max("x", n=2), TEXT, ["", "ß", "z", "✓"], ["✓", "ß"]),
    ("top of decimals", agg.max("x", n=1), pa.decimal128(38, 3), [WIDE, LESS], [WIDE]),
    ("top of flags", agg.max("x", n=2), pa.bool_(), [False, True, None], [True, False]),
    ("top of dates", agg.max("x", n=1), pa.date32(), [DAY, date(1, 1, 1)], [DAY]),
    ("bottom of moments", agg.min("x", n=1), pa.timestamp("us", tz="UTC"), [NOON, None], [NOON]),
    ("bottom", agg.min("x", n=2), F64, [NAN, 5.0, -INF, 5.0], [-INF, 5.0]),
    ("least twice", agg.min_count("x"), F64, [0.0, -0.0, 1.0, None], 2),
    ("greatest is NaN", agg.max_count("x"), F64, [NAN, 1.0, NAN], 2),
    ("least of texts", agg.min_count("x"), TEXT, ["", "a", ""], 2),
    ("greatest of nothing", agg.max_count("x"), I64, [None, None], 0),
    ("count of values", agg.count("x"), I64, [None, 0, 1], 2),
    ("range", agg.range("x"), I64, [4, None, -3], 7),
    ("range of small integers", agg.range("x"), pa.int8(), [-128, 127], 255),
    ("range of decimals", agg.range("x"), pa.decimal128(4, 1), [Decimal("-999.9"), Decimal("999.9")], Decimal("1999.8")),
    ("range of wide decimals", agg.range("x"), pa.decimal128(38, 3), [WIDE, LESS], Decimal("1.000")),
    ("range of floats", agg.range("x"), F64, [1e15, 1e15 + 0.125], 0.125),
    ("range with NaN", agg.range("x"), F64, [1.0, NAN], NAN),
    ("range of days", agg.range("x"), pa.date32(), [DAY, date(2024, 3, 1)], 1),
    ("range of moments", agg.range("x"), pa.timestamp("us", tz="UTC"), [NOON, NOON.replace(microsecond=1)], 1e-6),
    ("range of nothing", agg.range("x"), I64, [], None),
    ("first of all", agg.first("x", n=2), I64, [None, 1, 2], [None, 1]),
    ("last of all", agg.last("x", n=2), TEXT, ["a", "", None], ["", None]),
    ("more than there are", agg.last("x", n=9), I64, [1, 2], [1, 2]),
    ("first of nothing", agg.first("x", n=2), I64, [], None),
    ("any", agg.any_value("x"), TEXT, [None, "", "b"], ""),
    ("any of nothing", agg.any_value("x"), TEXT, [None], None),
    ("all hold", agg.all_of("x > 0"), I64, [1, None, 2], True),
    ("one does not", agg.all_of("x > 0"), I64, [1, 0], False),
    ("none to hold", agg.all_of("x > 0"), I64, [None], None),
    ("one holds", agg.any_of("x > 0"), I64, [None, 0, 1], True),
    ("none holds", agg.any_of("x > 0"), I64, [0], False),
    ("none that could", agg.any_of("x > 0"), I64, [], None),
    ("only some", agg.sum("x", where="x > 0 OR x < -5"), I64, [1, -1, None, -6], -5),
    ("only none", agg.sum("x", where="x > 9"), I64, [1], None),
    ("only with a bracket in a text", agg.count(where="x <> 'sum(x)'"), TEXT, ["sum(x)", "b", None], 1),
    ("a filter in a filter", agg.count_if("x > 1", where="x < 3"), I64, [1, 2, 3], 1),
]


@pytest.mark.parametrize(("aggregate", "kind", "x", "right"), [pytest.param(*rest, id=name) for name, *rest in ONES])
def test_ones(aggregate: Aggregate, kind: pa.DataType, x: list[Any], right: Any) -> None:
    assert alike(over(aggregate, kind, x), right)


BY: list[tuple[str, Aggregate, list[Any], list[Any], Any]] = [
    ("the first of ties", agg.min_by("x", "y"), [1, 2, 3], [5, 4, 4], 2),
    ("the first of greatest", agg.max_by("x", "y"), [1, 2, 3], [4, 5, 5], 2),
    ("a null is a value", agg.min_by("x", "y"), [None, 2], [1, 2], None),
    ("a null has no place", agg.min_by("x", "y"), [1, 2], [None, 2], 2),
    ("both zeros tie", agg.min_by("x", "y"), [1, 2], [0.0, -0.0], 1),
    ("NaN is greatest", agg.max_by("x", "y"), [1, 2], [NAN, INF], 1),
    ("by text", agg.max_by("x", "y"), [1, 2], ["", "ä"], 2),
    ("the greatest ones", agg.max_by("x", "y", n=2), [1, 2, 3, 4], [5, 7, 7, None], [2, 3]),
    ("the least ones", agg.min_by("x", "y", n=3), [1, None, 3, 4], [5, 4, NAN, 4], [None, 4, 1]),
    ("both zeros of several tie", agg.max_by("x", "y", n=2), [1, 2, 3], [0.0, -0.0, 0.0], [1, 2]),
    ("fewer than several", agg.max_by("x", "y", n=3), [1], [5], [1]),
    ("none of several", agg.min_by("x", "y", n=3), [1], [None], None),
    ("all at the least", agg.min_by("x", "y", ties=True), [3, 1, 3, 9], [0, 0, 0, 1], [1, 3]),
    ("all at the greatest", agg.max_by("x", "y", ties=True), [3, None, 2], [7, 7, 6], [3]),
    ("nothing but null at the least", agg.min_by("x", "y", ties=True), [None, 4], [1, 2], []),
]


@pytest.mark.parametrize(("aggregate", "x", "y", "right"), [pytest.param(*rest, id=name) for name, *rest in BY])
def test_by(aggregate: Aggregate, x: list[Any], y: list[Any], right: Any) -> None:
    assert alike(over(aggregate, I64, x, y), right)


def test_candles() -> None:
    candle = agg.candlestick("x", "y")
    price = pa.decimal128(6, 2)
    prices = [None, Decimal("2.00"), Decimal("5.00"), Decimal("1.00"), Decimal("3.00")]
    right = {"open": Decimal("2.00"), "high": Decimal("5.00"), "low": Decimal("1.00"), "close": Decimal("3.00"), "vwap": 3.5}
    assert alike(over(candle, price, prices, [9, 1, 1, None, 0]), right)
    assert over(candle, price, [Decimal("2.00")], [0])["vwap"] is None
    assert over(candle, price, [None], [1]) is None


# x     1     3     -
# time  0     4     10
TIMED: list[tuple[str, Aggregate, pa.DataType, list[Any], list[int], Any]] = [
    ("held", agg.time_weighted_mean("x"), F64, [1.0, 3.0, 9.0], [0, 4, 10], 2.2),
    ("straight lines", agg.time_weighted_mean("x", "linear"), F64, [1.0, 3.0, 9.0], [0, 4, 10], 4.4),
    ("nulls are left out", agg.time_weighted_mean("x"), F64, [1.0, None, 3.0], [0, 5, 10], 1.0),
    ("alone", agg.time_weighted_mean("x", "linear"), F64, [7.0], [3], 7.0),
    ("at one time", agg.time_weighted_mean("x"), F64, [7.0, 8.0], [3, 3], 8.0),
    ("no time passes between", agg.time_weighted_mean("x"), F64, [7.0, INF, 1.0, 5.0], [0, 0, 0, 10], 1.0),
    ("at an offset", agg.time_weighted_mean("x"), F64, [1e15, 1e15 + 0.5, 1e15], [0, 1, 2], 1e15 + 0.25),
    ("equal", agg.time_weighted_mean("x"), F64, [0.1] * 4, [0, 1, 3, 7], 0.1),
    ("large and small", agg.time_weighted_mean("x"), F64, [1e300, 1.0, 1e300], [0, 1, 2], 5e299),
    ("infinite", agg.time_weighted_mean("x"), F64, [INF, 1.0, 1.0], [0, 1, 2], INF),
    ("not a number", agg.time_weighted_mean("x"), F64, [1.0, NAN, 1.0], [0, 1, 2], NAN),
    ("none", agg.time_weighted_mean("x"), F64, [None], [0], None),
    ("of integers", agg.time_weighted_mean("x"), I64, [EDGE, EDGE], [0, 1], float(EDGE)),
    ("counter", agg.counter_rate("x"), F64, [10.0, 20.0, 5.0, 6.0], [0, 1, 2, 4], 4.0),
    ("a large counter", agg.counter_rate("x"), I64, [EDGE - 3, EDGE], [0, 1], 3.0),
    ("from edge to edge", agg.counter_rate("x"), I64, [-EDGE - 1, EDGE], [0, 1], 2.0**64),
    ("counter of decimals", agg.counter_rate("x"), pa.decimal128(9, 2), [Decimal("0.25"), Decimal("0.75")], [0, 2], 0.25),
    ("counter alone", agg.counter_rate("x"), F64, [1.0], [0], None),
    ("counter at one time", agg.counter_rate("x"), F64, [1.0, 2.0], [5, 5], None),
    ("states", agg.time_in_state("x"), TEXT, ["on", "off", None, "on"], [0, 1, 4, 9], [("off", 8.0), ("on", 1.0)]),
    ("states of flags", agg.time_in_state("x"), pa.bool_(), [True, False, True], [0, 2, 3], [(False, 1.0), (True, 2.0)]),
    ("both zeros are a state", agg.time_in_state("x"), F64, [0.0, -0.0, 1.0], [0, 1, 2], [(0.0, 2.0), (1.0, 0.0)]),
    ("no state", agg.time_in_state("x"), TEXT, [None], [0], None),
    ("silence", agg.longest_silence(), I64, [None, 1, 2], [0, 7, 9], 7.0),
    ("no silence", agg.longest_silence(), I64, [1, 1], [4, 4], 0.0),
    ("one event", agg.longest_silence(), I64, [1], [4], None),
    ("no event", agg.longest_silence(), I64, [], [], None),
]


@pytest.mark.parametrize(("aggregate", "kind", "x", "times", "right"), [pytest.param(*rest, id=name) for name, *rest in TIMED])
def test_timed(aggregate: Aggregate, kind: pa.DataType, x: list[Any], times: list[int], right: Any) -> None:
    found = over(aggregate, kind, x, times=times)
    assert alike(found, right)
    if aggregate.name == "time_weighted_mean" and right == 0.1:
        assert found == right


@pytest.mark.parametrize(
    ("kind", "x", "said"),
    [
        (I64, [EDGE, -1], "does not fit int64"),
        (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(-1)], "does not fit"),
        (TEXT, ["a"], "no range"),
    ],
)
def test_ranges_that_cannot_be(kind: pa.DataType, x: list[Any], said: str) -> None:
    with pytest.raises(SourceError, match=said):
        over(agg.range("x"), kind, x)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: agg.max("x", n=0), r"max: 0 is not possible; say how many"),
        (lambda: agg.min("x", n=True), "min: True"),
        (lambda: agg.first("x", n=-1), "first: -1"),
        (lambda: agg.last("x", n=10**6), "from 1 to 999999"),
        (lambda: agg.time_weighted_mean("x", "cubic"), 'say "locf" or "linear"'),
        (lambda: agg.sum("x", where=" "), "where=' ' is not a SQL condition"),
        (lambda: agg.count(where=3), "where=3"),
        (lambda: agg.min_by("x", ""), "min_by: ''"),
        (lambda: agg.count(""), "count: ''"),
    ],
)
def test_wrong_use_is_refused(wrong: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        wrong()


def test_filters_do_not_share_columns() -> None:
    stems = [field.stem for each in (agg.sum("x"), agg.sum("x", where="y > 0"), agg.sum("x", where="y > 1")) for field in each.fields]
    assert len(set(stems)) == 6
    assert str(agg.sum("x", where="y > 0")) == "sum(x) where y > 0"


def test_lists_have_types_that_delta_stores() -> None:
    top = agg.max("x", n=2)
    assert over(top, pa.uint32(), [2**32 - 1]) == [2**32 - 1]
    assert over(top, pa.uint64(), [2**64 - 1]) == [Decimal(2**64 - 1)]
    assert over(top, pa.timestamp("ms"), [datetime(2024, 1, 1)]) == [datetime(2024, 1, 1, tzinfo=UTC)]  # noqa: DTZ001 - a naive column
