"""The states that hold the extreme of their window, and their other parts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.lists.members import in_runs, members
from muntin.engine.ordered_lists import united
from muntin.engine.reduce.select import sort_keys, winners

if TYPE_CHECKING:
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Ints


def holders(by: pa.Array, windows: Assignment, *, least: bool) -> tuple[Ints, Ints, Ints]:
    """The states that hold their window's extreme: pairs (window, row), and the first holder of each window; -1: no state."""
    first = winners(by, windows, least=least, newest=False)
    window, row = members(windows)
    ranks, valid = sort_keys(by), by.is_valid().to_numpy(zero_copy_only=False)
    chosen = valid[row] & (first[window] >= 0) & (ranks[row] == ranks[first[window]])
    return window[chosen], row[chosen], first


def sums_over(column: pa.Array, window: Ints, row: Ints, count: int) -> pa.Array:
    """For each of `count` windows the sum of an integer column over its pairs (window, row)."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, window, column.to_numpy(zero_copy_only=False)[row])
    return pa.array(sums).cast(column.type)


def united_over(column: pa.Array, window: Ints, row: Ints, count: int) -> pa.Array:
    """For each of `count` windows the distinct items of a list column over its pairs (window, row), sorted."""
    return united(column, in_runs(row, np.searchsorted(window, np.arange(count + 1)), len(column)))
