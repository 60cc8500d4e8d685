"""The items and states of windows: for aggregates whose states are lists, and for those that ask which states hold an extreme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.engine.lists.members import members
from pipelines.engine.reduce.select import sort_keys, winners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.engine.assignment import Assignment
    from pipelines.states.frames import Ints


def gathered(
    parts: Mapping[str, pa.Array], by: str, windows: Assignment, *, greatest: bool, newest: bool, most: int
) -> dict[str, pa.Array]:
    """The items of each window's lists in one list, sorted; of equal items the first to arrive comes first.

    Args:
        parts: list columns of equal lengths, a state a row; a null is an empty list.
        by: the part that items are sorted by.
        windows: over the states.
        greatest: whether the greatest item comes first, else the least.
        newest: whether the last `most` items are kept, else the first.
        most: how many items are kept of each window; 0: all.
    """
    window, row = members(windows)
    lists = {name: part.take(pa.array(row)) for name, part in parts.items()}
    owner = np.repeat(window, lists[by].value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    items = {name: part.flatten() for name, part in lists.items()}
    ranks = sort_keys(items[by])
    order = np.lexsort((-1 - ranks if greatest else ranks, owner))
    if most:
        order = _kept(order, owner[order], newest=newest, most=most)
    offsets = _offsets(owner[order], len(windows.lo))
    return {name: pa.ListArray.from_arrays(offsets, items[name].take(pa.array(order)), type=part.type) for name, part in parts.items()}


def _kept(order: Ints, owner: Ints, *, newest: bool, most: int) -> Ints:
    """The first or the last `most` entries of each owner; owners ascend."""
    begins, ends, place = np.searchsorted(owner, owner), np.searchsorted(owner, owner, "right"), np.arange(len(owner))
    return order[place >= ends - most] if newest else order[place < begins + most]


def _offsets(owner: Ints, count: int) -> pa.Array:
    """Where the list of each of `count` owners begins, and where the last one ends."""
    return pa.array(np.searchsorted(owner, np.arange(count + 1)), pa.int32())


def ranked(by: pa.Array, then: pa.Array, *, least: bool) -> pa.Array:
    """Integers in the order of `by`; equal values are ordered by `then`, upwards if `least`, else downwards.

    Null where `by` is null.
    """
    keys, ties = (np.unique(sort_keys(column), return_inverse=True)[1].astype(np.int64) for column in (by, then))
    return pa.array(keys * (len(then) + 1) + (ties if least else len(then) - ties), mask=by.is_null().to_numpy(zero_copy_only=False))


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


def united(column: pa.Array, window: Ints, row: Ints, count: int) -> pa.Array:
    """For each of `count` windows the distinct items of a list column over its pairs (window, row), sorted."""
    lists = column.take(pa.array(row))
    items = lists.flatten()
    owner = np.repeat(window, lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    ranks = sort_keys(items)
    order = np.lexsort((ranks, owner))
    repeats = np.zeros(len(order), bool)
    repeats[1:] = (np.diff(owner[order]) == 0) & (np.diff(ranks[order]) == 0)
    order = order[~repeats]
    return pa.ListArray.from_arrays(_offsets(owner[order], count), items.take(pa.array(order)), type=column.type)


def filled(lists: pa.Array) -> pa.Array:
    """The lists, with null for every empty list."""
    return pc.if_else(pc.equal(lists.value_lengths(), 0), pa.scalar(None, lists.type), lists)
