"""Expressions, types and nestings that once came out wrong."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.laws.states import combined, finished, lifted


def result(aggregate: Aggregate, states: list[list[dict[str, Any]]], kinds: dict[str, pa.DataType]) -> Any:
    """Over several states, one after the other; windows are 20 s long."""
    timed = [[row | {"time": at} for row in rows] for at, rows in enumerate(states)]
    return finished(aggregate, combined(aggregate, *(lifted(aggregate, [rows], kinds) for rows in timed)))


XY, INTS = [[{"x": 1, "y": 1}, {"x": 11, "y": -1}]], {"x": pa.int64(), "y": pa.int64()}


@pytest.mark.parametrize(
    "x", ["x + length(')') - 1", r"x + length(E'\')') - length(')')", "x + length($$)$$) - 1", "x + length($a$ max( $a$) - 6", '"x"']
)
def test_where_looks_into_no_text(x: str) -> None:
    assert result(agg.max(x, where="y > 0"), XY, INTS).to_pylist()[0] in (1, 2)
    assert result(agg.count(x, where="y > 0"), XY, INTS).to_pylist() == [1]


def test_a_distinct_sum_of_decimals_does_not_run_out_of_digits() -> None:
    values = [Decimal(n) / 100 for n in range(9000, 9999)]
    found = result(agg.sum("x", distinct=True), [[{"x": value} for value in values]], {"x": pa.decimal128(4, 2)})
    found.validate(full=True)
    assert found.to_pylist() == [sum(values)]
    assert found.type == pa.decimal128(38, 2)


def test_unsigned_counters_keep_their_last_digits() -> None:
    rows = [{"x": 2**63 + 2**60, "time": 0}, {"x": 2**63 + 2**60 + 5, "time": 1_000_000}]
    aggregate = agg.counter_rate("x")
    assert finished(aggregate, combined(aggregate, lifted(aggregate, [rows], {"x": pa.uint64()}))).to_pylist() == [5.0]


def test_decimal_counters_are_subtracted_as_they_are() -> None:
    rows = [
        {"x": Decimal(n), "time": at * 1_000_000} for at, n in enumerate(["-1e33", "1e33", "1000000000000000000000000000000002.5", "2"])
    ]
    aggregate = agg.counter_rate("x")
    found = finished(aggregate, combined(aggregate, lifted(aggregate, [rows[1:]], {"x": pa.decimal128(38, 1)}))).to_pylist()
    assert found == [(2.5 + 2) / 2]  # 2 is after a reset
    assert finished(aggregate, combined(aggregate, lifted(aggregate, [rows[:2]], {"x": pa.decimal128(38, 1)}))).to_pylist() == [2e33]


def test_rates_within_groups_and_places() -> None:
    kinds = {"k": pa.string(), "xs": pa.list_(pa.int64())}
    states = [[{"k": "a", "xs": [10, 20]}, {"k": "b", "xs": [30]}], [{"k": "a", "xs": None}]]
    assert result(agg.by("k", agg.rate()), states, kinds).to_pylist() == [[("a", 2 / 20), ("b", 1 / 20)]]
    assert result(agg.elementwise("xs", agg.rate("xs")), states, kinds).to_pylist() == [[40 / 20, 20 / 20]]


def test_lists_of_lists() -> None:
    kinds = {"ll": pa.list_(pa.list_(pa.int64())), "k": pa.string()}
    states = [[{"ll": [[1, 2], [3, 4]], "k": "a"}], [{"ll": [[10], [20, 30, 40]], "k": "a"}]]
    twice = agg.elementwise("ll", agg.elementwise("ll", agg.sum("ll")))
    assert result(twice, states, kinds).to_pylist() == [[[11, 2], [23, 34, 40]]]
    between = agg.elementwise("ll", agg.by("k", agg.elementwise("ll", agg.max("ll"))))
    assert result(between, states, kinds).to_pylist() == [[[("a", [10, 2])], [("a", [20, 30, 40])]]]


def test_any_column_names() -> None:
    rows = [[{"each": 1, "x": 7}, {"each": 2, "x": 7}]]
    [top] = result(agg.approx_top_k("x", 2), rows, {"each": pa.int64(), "x": pa.int64()}).to_pylist()
    assert top == [{"value": 7, "count": 2, "error": 0}]


def test_edges_of_numpy() -> None:
    import numpy as np

    assert result(agg.histogram("x", list(np.linspace(0, 20, 3))), XY, INTS).to_pylist() == [[1, 1]]
