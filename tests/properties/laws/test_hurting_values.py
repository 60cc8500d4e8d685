"""Aggregates that keep items, on values that hurt, cut into states wherever one can cut, against plain Python."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import SourceError
from muntin.laws.states import combined, finished, lifted
from tests.case_counts import some
from tests.oracle import keeping
from tests.properties.equal_values import alike

NAN, INF = math.nan, math.inf
NINES = Decimal("9" * 36 + ".99")
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "decimal": (pa.decimal128(38, 2), [NINES, None, NINES.copy_negate(), Decimal("0.00"), NINES]),
    "edges of 64 bits": (pa.int64(), [2**63 - 1, -(2**63), None, 2**63 - 1, 0]),
    "text": (pa.string(), ["", "ü", "\U0001f600", None, "", "x" * 1_000_000, "a\x00b", "\x00a"]),
    "flag": (pa.bool_(), [True, False, None, True]),
    "date": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None, date(1, 1, 1)]),
    "moment": (pa.timestamp("us", tz="UTC"), [datetime(1969, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 1, 1, 1, 1, tzinfo=UTC), None]),
    "float": (pa.float64(), [NAN, -INF, INF, 0.0, -0.0, None, -NAN, 5e-324, 1.7e308, -1.7e308]),
    "bytes": (pa.binary(), [b"\x00\xff", b"", None, b""]),
    "nothing": (pa.int64(), [None, None, None]),
    "no row": (pa.int64(), []),
}
NUMBERS = ("edges of 64 bits", "float", "nothing", "no row")
EVERY = tuple(VALUES)


def sorted_map(rows: Any) -> Any:
    """The last time of each value."""
    last = {keeping.values([row], "x")[0]: row["time"] for row in rows if row["x"] is not None}
    return sorted(last.items(), key=lambda item: keeping.nan_greatest(item[0]))


EXPECTED: dict[str, tuple[Aggregate, Any, tuple[str, ...]]] = {
    "collect": (agg.collect("x"), keeping.collect("x"), EVERY),
    "collect three": (agg.collect("x", 3), keeping.collect("x", 3), EVERY),
    "collect distinct": (agg.collect("x", distinct=True), keeping.first_of_each("x"), EVERY),
    "sorted": (agg.collect_sorted("x"), keeping.sorted_by("x", "x"), EVERY),
    "distinct": (agg.collect_distinct("x"), keeping.distinct("x"), EVERY),
    "concat": (agg.concat("x", "\n"), keeping.concat("x", "\n"), ("text", "edges of 64 bits", "decimal", "date", "nothing")),
    "map": (agg.to_map("x", "time"), sorted_map, EVERY),
    "counts": (agg.count_by("x"), keeping.count_by("x"), EVERY),
    "mode": (agg.mode("x"), keeping.mode("x"), EVERY),
    "how many": (agg.count_distinct("x"), lambda rows: len(keeping.distinct("x")(rows)), EVERY),
    "about how many": (agg.approx_count_distinct("x"), lambda rows: len(keeping.distinct("x")(rows)), EVERY),
    "top": (agg.approx_top_k("x", 1), lambda rows: keeping.top("x", 9)(rows)[:1], ("text", "flag", "date", "bytes", "nothing", "no row")),
    "median": (agg.median("x"), keeping.percentile("x", 0.5), NUMBERS),
    "least": (agg.percentile("x", 0), keeping.percentile("x", 0), NUMBERS),
    "greatest": (agg.percentile("x", 1), keeping.percentile("x", 1), NUMBERS),
    "histogram": (agg.histogram("x", [-INF, 0, INF]), keeping.histogram("x", [-INF, 0, INF]), (*NUMBERS, "decimal")),
    "every number": (agg.histogram("x", [-(2**63), 2**63 - 1]), keeping.histogram("x", [-(2**63), 2**63 - 1]), ("edges of 64 bits",)),
    "by": (agg.by("x", agg.count()), keeping.count_by("x"), EVERY),
}


def plain(value: Any) -> Any:
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


CASES = [pytest.param(name, kind, id=f"{name}-{kind}") for name, (_, _, kinds) in EXPECTED.items() for kind in some(kinds, one_in=3)]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_values_that_hurt(name: str, kind: str) -> None:
    aggregate, naive, _ = EXPECTED[name]
    type_, values = VALUES[kind]
    rows = [{"x": value, "time": at} for at, value in enumerate(values)]
    wanted = plain(naive(rows))
    for cut in some(range(len(rows) + 1)):
        x, y = (lifted(aggregate, [part], {"x": type_}) for part in (rows[:cut], rows[cut:]))
        ours = plain(finished(aggregate, combined(aggregate, x, y)).to_pylist()[0])
        assert alike(ours, wanted), f"cut at {cut}: {str(ours)[:200]} not {str(wanted)[:200]}"


def result(aggregate: Aggregate, values: list[Any], kind: pa.DataType) -> Any:
    states = [lifted(aggregate, [[{"x": value, "time": 0}]], {"x": kind}) for value in values]
    return finished(aggregate, combined(aggregate, *states)).to_pylist()[0]


def test_equal_zeros_are_one_zero_without_a_sign() -> None:
    for aggregate in (agg.mode("x"), agg.percentile("x", 0)):
        assert math.copysign(1, result(aggregate, [-0.0, 0.0, -0.0], pa.float64())) == 1


def test_types_without_an_order_are_refused_in_words() -> None:
    with pytest.raises(SourceError, match="no order"):
        result(agg.mode("x"), [[1, 2]], pa.list_(pa.int64()))
    with pytest.raises(SourceError, match="do not go into a sketch"):
        result(agg.theta("x"), [{"a": 1}], pa.struct([("a", pa.int64())]))


def test_lists_of_structs_are_collected() -> None:
    assert result(agg.collect("x"), [{"a": 1}, None, {"a": 2}], pa.struct([("a", pa.int64())])) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("kind", "values", "total", "middle"),
    [
        (pa.int64(), [3, 4, 3, None], 7, 3.5),
        (pa.int32(), [None], None, None),
        (pa.decimal128(38, 2), [NINES, NINES, Decimal(1)], None, None),
        (pa.decimal128(12, 2), [Decimal("0.10"), Decimal("0.20"), Decimal("0.10")], Decimal("0.30"), 0.15),
        (pa.float64(), [0.5, -0.0, 0.0, 0.5, 1e9], 1e9 + 0.5, (1e9 + 0.5) / 3),
    ],
)
def test_sums_of_distinct_values(kind: pa.DataType, values: list[Any], total: Any, middle: Any) -> None:
    if NINES in values:
        with pytest.raises(SourceError, match="does not fit"):
            result(agg.sum("x", distinct=True), values, kind)
    else:
        assert (result(agg.sum("x", distinct=True), values, kind), result(agg.mean("x", distinct=True), values, kind)) == (total, middle)
