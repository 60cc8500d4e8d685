"""Lists of (group, parts): what a window holds of each group, combined by the monoids of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pipelines.engine.lists.members import in_runs, pieces
from pipelines.engine.lists.ordered import lengths_of, listed, ranks, settled
from pipelines.states.frames import run_starts, sorted_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.engine.assignment import Assignment
    from pipelines.engine.protocols import Field

    Change = Callable[[list[pa.Array]], list[pa.Array]]


def combined_groups(lists: pa.Array, windows: Assignment, fields: Sequence[Field]) -> pa.Array:
    """Of each window its groups, each once and sorted, with the parts of all its states combined.

    Args:
        lists: of structs: the group, then the parts of the fields; a group at most once in a list.
        windows: over the states.
        fields: whose monoids combine the parts.
    """
    group, *parts = lists.flatten().flatten()
    group, rank = settled(group), ranks(group)
    counts, found = np.zeros(len(windows.lo), np.int64), [pa.concat_arrays([each.slice(0, 0)]) for each in (group, *parts)]
    pieces_found: list[list[pa.Array]] = [found]
    for window, item in pieces(windows, lengths_of(lists)):
        order = sorted_order(window, rank[item])
        heads = np.flatnonzero(run_starts(window[order], rank[item[order]]))
        apart = in_runs(item[order], np.append(heads, len(order)), len(group))
        pieces_found.append([group.take(pa.array(item[order][heads])), *_reduced(parts, fields, apart)])
        counts += np.bincount(window[order][heads], minlength=len(counts))
    columns = [pa.concat_arrays(column) for column in zip(*pieces_found, strict=True)]
    return listed(counts, pa.StructArray.from_arrays(columns, fields=list(lists.type.value_type)))


def _reduced(parts: Sequence[pa.Array], fields: Sequence[Field], windows: Assignment) -> list[pa.Array]:
    found, at = [], 0
    for field in fields:
        own = dict(zip(field.names, parts[at:], strict=False))
        found += list(field.monoid.reduce(own, windows).values())
        at += len(field.names)
    return found


def changed(lists: pa.Array, change: Change) -> pa.Array:
    """The same lists of structs with other parts."""
    items = lists.flatten()
    group, *parts = items.flatten()
    made = change(parts)
    return listed(lengths_of(lists), pa.StructArray.from_arrays([group, *made], ["group", *(f"p{at}" for at in range(len(made)))]))


def finished_places(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Lists of what is finished of the parts of each group, sorted by group; `bounds`: what `finish` gets of each window."""
    return listed(lengths_of(lists), _finished(lists, finish, bounds))


def finished_groups(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Maps from group to what is finished of its parts; `bounds`: what `finish` gets of each window."""
    offsets = np.append(0, np.cumsum(lengths_of(lists)))
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), lists.flatten().field(0), _finished(lists, finish, bounds))


def _finished(lists: pa.Array, finish: Callable[..., pa.Array], bounds: Sequence[pa.Array]) -> pa.Array:
    _, *parts = lists.flatten().flatten()
    window = pa.array(np.repeat(np.arange(len(lists)), lengths_of(lists)))
    return finish(*parts, *(bound.take(window) for bound in bounds))
