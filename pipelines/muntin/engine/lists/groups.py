"""Parts of states put together: of each group in a window, and of the states that hold its extreme."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from muntin.engine.assignment import Assignment
from muntin.engine.lists.members import in_runs, members, pieces
from muntin.engine.ordered_lists import lengths_of, listed, ranks, settled, united
from muntin.engine.protocols import Field
from muntin.engine.reduce.select import sort_keys, winners
from muntin.states.frames import Ints, run_starts
from muntin.states.order import sorted_order

Change = Callable[[list[pa.Array]], list[pa.Array]]


def combined_groups(lists: pa.Array, windows: Assignment, fields: Sequence[Field]) -> pa.Array:
    """The groups of each window, distinct and sorted, with the parts of all its states combined.

    `lists`: of structs: the group, then the parts of the fields; a group at most once in a list. `windows`:
    over the states. `fields`: whose monoids combine the parts.
    """
    group, *parts = lists.flatten().flatten()
    group, rank = settled(group), ranks(group)
    counts = np.zeros(len(windows.lo), np.int64)
    combined: list[list[pa.Array]] = [
        [pa.concat_arrays([column.slice(0, 0)]) for column in (group, *parts)]
    ]  # types, if no window has items
    for window, item in pieces(windows, lengths_of(lists)):
        order = sorted_order(window, rank[item])
        heads = np.flatnonzero(run_starts(window[order], rank[item[order]]))
        apart = in_runs(item[order], np.append(heads, len(order)), len(group))
        combined.append([group.take(pa.array(item[order][heads])), *_reduced(parts, fields, apart)])
        counts += np.bincount(window[order][heads], minlength=len(counts))
    columns = [pa.concat_arrays(column) for column in zip(*combined, strict=True)]
    return listed(counts, pa.StructArray.from_arrays(columns, fields=list(lists.type.value_type)))


def _reduced(parts: Sequence[pa.Array], fields: Sequence[Field], windows: Assignment) -> list[pa.Array]:
    reduced, at = [], 0
    for field in fields:
        own = dict(zip(field.names, parts[at:], strict=False))
        reduced += list(field.monoid.reduce(own, windows).values())
        at += len(field.names)
    return reduced


def changed(lists: pa.Array, change: Change) -> pa.Array:
    """Lists of the same groups with other parts, which `change` makes of all parts at once."""
    items = lists.flatten()
    group, *parts = items.flatten()
    changed_parts = change(parts)
    names = ["group", *(f"p{at}" for at in range(len(changed_parts)))]
    return listed(lengths_of(lists), pa.StructArray.from_arrays([group, *changed_parts], names))


def finished_places(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Lists of the results of each group, sorted by group; `bounds`: columns of windows for `finish`."""
    return listed(lengths_of(lists), _finished(lists, finish, bounds))


def finished_groups(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Maps from a group to its result; `bounds`: columns of windows that `finish` gets after the parts."""
    offsets = np.append(0, np.cumsum(lengths_of(lists)))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), lists.flatten().field(0), _finished(lists, finish, bounds)
    )


def _finished(lists: pa.Array, finish: Callable[..., pa.Array], bounds: Sequence[pa.Array]) -> pa.Array:
    _, *parts = lists.flatten().flatten()
    window = pa.array(np.repeat(np.arange(len(lists)), lengths_of(lists)))
    return finish(*parts, *(bound.take(window) for bound in bounds))


def holders(by: pa.Array, windows: Assignment, *, least: bool) -> tuple[Ints, Ints, Ints]:
    """The states that hold their window's extreme: pairs (window, row), and each first holder, or -1."""
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
    """For each of `count` windows the distinct items of a list column over pairs (window, row), sorted."""
    return united(column, in_runs(row, np.searchsorted(window, np.arange(count + 1)), len(column)))
