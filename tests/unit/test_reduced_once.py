"""Fields over the same memory are reduced once; those over equal values elsewhere each by itself."""

from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from muntin import aggregates as agg
from muntin.aggregates.algebra import Sum
from muntin.engine import ordered_lists
from muntin.engine.assignment import Assignment
from muntin.engine.windows import results
from muntin.states.derived_columns import footer_for, whole

NONE = np.empty(0, np.int64)
AGGREGATES = {"rows": agg.count(), "known": agg.count("x"), "other": agg.count("y"), "total": agg.sum("x")}


def states(x: list[int | None], y: list[int | None]) -> pa.Table:
    """States that are rows, as a file holds them, then with every column."""
    held = pa.table({"x": pa.array(x, pa.int64()), "y": pa.array(y, pa.int64())})
    columns = {field.columns[0] for each in AGGREGATES.values() for field in each.fields}
    ways = {"rows": ("one", ""), "count_x": ("present", "x"), "count_y": ("present", "y"), "sum_x": ("total", "x")}
    assert columns == set(ways)
    return whole(held.replace_schema_metadata(footer_for(ways)))


def summed(states: pa.Table) -> tuple[dict[str, Any], int]:
    """
    state    0   1   2   3
             |-------|
                 |-------|          two windows

    The results of both, and how often a column was summed.
    """
    lo, hi, rows = np.array([0, 1]), np.array([3, 4]), np.arange(4)
    windows = Assignment(rows, rows * 0, lo * 0, lo, hi, lo, lo, hi, NONE, NONE, rows * 0)
    with mock.patch.object(Sum, "reduce", autospec=True, side_effect=Sum.reduce) as reduce:
        found = results(states, windows, AGGREGATES)
    return {name: column.to_pylist() for name, column in found.items()}, reduce.call_count


def test_states_are_not_put_in_order_for_no_window() -> None:
    """So a day with many values costs nothing before it ends: lists of all its states were ranked."""
    none, rows = np.empty(0, np.int64), np.arange(4)
    windows = Assignment(rows, rows * 0, none, none, none, none, none, none, NONE, NONE, rows * 0)
    lists = pa.table({"counts_x_values": [[1], [2], [1, 2], [3]], "counts_x_counts": [[1], [1], [1, 1], [1]]})
    with mock.patch.object(ordered_lists, "ranks", side_effect=ordered_lists.ranks) as ranks:
        found = results(lists, windows, {"kinds": agg.count_distinct("x")})
    assert found["kinds"].to_pylist() == []
    assert [len(each.args[0]) for each in ranks.call_args_list] == [0]


def test_columns_of_ones_are_summed_once() -> None:
    found, times = summed(states([5, 6, 7, 8], [1, 2, 3, 4]))
    assert found == {"rows": [3, 3], "known": [3, 3], "other": [3, 3], "total": [18, 21]}
    assert times == 2


def test_a_column_with_a_null_is_summed_by_itself() -> None:
    found, times = summed(states([5, None, 7, 8], [1, 2, 3, None]))
    assert found == {"rows": [3, 3], "known": [2, 2], "other": [3, 2], "total": [12, 15]}
    assert times == 4


def test_equal_values_elsewhere_in_memory_are_summed_by_themselves() -> None:
    table = states([5, 6, 7, 8], [1, 2, 3, 4])
    copied = pa.table({name: pa.array(table[name].to_pylist()) for name in table.column_names})
    assert summed(copied) == (summed(table)[0], 4)
