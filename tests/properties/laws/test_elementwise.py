"""Aggregates by the place in lists, against plain Python."""

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.laws.states import combined, finished, lifted
from tests.case_counts import cases

KINDS = {"xs": pa.list_(pa.int64()), "ys": pa.list_(pa.int64())}
LISTS = st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=4)


def rows(*lists: Any) -> list[dict[str, Any]]:
    return [{"xs": each, "ys": each and each[::-1], "time": at} for at, each in enumerate(lists)]


def result(aggregate: Aggregate, *states: list[dict[str, Any]]) -> Any:
    return finished(aggregate, combined(aggregate, *(lifted(aggregate, [each], KINDS) for each in states))).to_pylist()[0]


# state 1   1  2
#           3  4  5     state 2   -  7
#           null                  10
# sums     14 13  5
def test_places_of_all_states_meet() -> None:
    first, second = rows([1, 2], [3, 4, 5], None), rows([None, 7], [10])
    assert result(agg.elementwise("xs", agg.sum("xs")), first, second) == [14, 13, 5]
    assert result(agg.elementwise("xs", agg.count("xs")), first, second) == [3, 3, 1]
    assert result(agg.elementwise("xs", agg.sum("xs"), where="len(xs) > 1"), first, second) == [4, 13, 5]
    assert result(agg.elementwise("xs", agg.sum("xs", where="xs > 2")), first, second) == [13, 11, 5]
    assert result(agg.elementwise("xs", agg.sum("xs")), rows(), rows(None, [])) == []


def test_elements_at_one_place_belong_together() -> None:
    assert result(agg.elementwise(["xs", "ys"], agg.min_by("xs", "ys")), rows([1, 2], [3, 9, 5])) == [1, 2, 5]


@settings(max_examples=cases(200), database=None)
@given(st.lists(LISTS, max_size=4), st.lists(LISTS, max_size=4))
def test_equals_a_loop(first: list[Any], second: list[Any]) -> None:
    lists = [each for each in first + second if each is not None]
    places = [[each[at] for each in lists if at < len(each)] for at in range(max(map(len, lists), default=0))]
    wanted = [max((value for value in place if value is not None), default=None) for place in places]
    assert result(agg.elementwise("xs", agg.max("xs")), rows(*first), rows(*second)) == wanted
