"""Lists of (group, parts): the parts of each group in a window, combined by their monoids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.lists.members import in_runs, pieces
from muntin.engine.ordered_lists import lengths_of, listed, ranks, settled
from muntin.states.frames import run_starts
from muntin.states.order import sorted_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.engine.assignment import Assignment
    from muntin.engine.protocols import Field

    Change = Callable[[list[pa.Array]], list[pa.Array]]


def combined_groups(lists: pa.Array, windows: Assignment, fields: Sequence[Field]) -> pa.Array:
    """The groups of each window, distinct and sorted, with the parts of all its states combined.

    Args:
        lists: of structs: the group, then the parts of the fields; a group at most once in a list.
        windows: over the states.
        fields: whose monoids combine the parts.
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
    """Lists of the results of each group, sorted by group; `bounds`: columns of windows that `finish` gets after the parts."""
    return listed(lengths_of(lists), _finished(lists, finish, bounds))


def finished_groups(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Maps from a group to its result; `bounds`: columns of windows that `finish` gets after the parts."""
    offsets = np.append(0, np.cumsum(lengths_of(lists)))
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), lists.flatten().field(0), _finished(lists, finish, bounds))


def _finished(lists: pa.Array, finish: Callable[..., pa.Array], bounds: Sequence[pa.Array]) -> pa.Array:
    _, *parts = lists.flatten().flatten()
    window = pa.array(np.repeat(np.arange(len(lists)), lengths_of(lists)))
    return finish(*parts, *(bound.take(window) for bound in bounds))
