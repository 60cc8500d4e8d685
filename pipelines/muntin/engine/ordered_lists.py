"""Lists of items: joined in order, counted by value, the last of each key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.assignment import Assignment
from muntin.engine.lists.members import pieces
from muntin.engine.reduce.select import sort_keys
from muntin.errors import SourceError
from muntin.states.frames import NO_INTS, Ints, run_starts
from muntin.states.order import sorted_order

_MOST = 2**31 - 1  # items in an Arrow column of lists, bytes in a column of texts


def lengths_of(lists: pa.Array) -> Ints:
    """The number of items of each list; a null is an empty list."""
    return lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)


def listed(counts: Ints, items: pa.Array) -> pa.Array:
    """Lists of the lengths `counts`, cut from items."""
    offsets = np.append(0, np.cumsum(counts))
    _check_size(int(offsets[-1]), "items in lists")
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)


def at_places(values: pa.Array, at: Ints) -> pa.Array:
    """The values at places."""
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
        _check_size(int(lengths[at].sum(dtype=np.int64)), "bytes of text in lists")
    return values.take(pa.array(at))


def _check_size(size: int, what: str) -> None:
    if size > _MOST:
        raise SourceError(
            f"the windows of one task hold {size} {what}, and a column takes {_MOST}; "
            'ask for fewer items, as collect("x", limit=100), or for shorter windows'
        )


def ranks(values: pa.Array, *, falling: bool = False) -> Ints:
    """Dense numbers from 0 in the order of the values, or `falling`: equal for equal values; nulls come last.

    All zeros are one value. All NaNs are one value, greater than any number.
    """
    if pa.types.is_nested(values.type):
        raise SourceError(
            f'values of type {values.type} have no order; ask for a text of them, as "x::VARCHAR", or for '
            'collect("x")'
        )
    keys = sort_keys(settled(values))
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    distinct, number = np.unique(keys[valid], return_inverse=True)
    rank = np.full(len(keys), len(distinct), np.int64)
    rank[valid] = len(distinct) - 1 - number if falling else number
    return rank


def settled(values: pa.Array) -> pa.Array:
    """The values with one zero for +0.0 and -0.0: equal values must not depend on the order of coming."""
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values


def put_together(
    lists: Sequence[pa.Array],
    windows: Assignment,
    *,
    by: Sequence[tuple[pa.Array, bool]],
    limit: int | None = None,
    newest: bool = False,
) -> list[pa.Array]:
    """For each window the items of all its states, sorted.

    `lists`: parallel columns of lists. `windows`: over the states. `by`: (values to sort the items by, flat;
    whether they descend), most significant first; equal items stay in order of arrival. `limit`: how many
    items are kept of each window; None: all. `newest`: whether the limit keeps the last items, else the
    first.
    """

    def within_limit(window: Ints, item: Ints) -> np.ndarray | slice:  # noqa: ARG001 - the place alone decides
        if limit is None:
            return slice(None)
        return (_places_from_end if newest else _places)(window) < limit

    return _chosen(lists, windows, [ranks(values, falling=falling) for values, falling in by], within_limit)


def united(lists: pa.Array, windows: Assignment) -> pa.Array:
    """For each window its distinct items, sorted; of equal items the first to arrive."""
    rank = ranks(lists.flatten())
    return _chosen([lists], windows, [rank], lambda window, item: run_starts(window, rank[item]))[0]


def counted(values: pa.Array, counts: pa.Array, windows: Assignment) -> tuple[pa.Array, pa.Array]:
    """For each window its values, each once and sorted, and how often each came.

    `values`, `counts`: parallel columns of lists without nulls; counts are int64. `windows`: over the states.
    """
    flat, often = settled(values.flatten()), counts.flatten().to_numpy(zero_copy_only=False)
    rank = ranks(flat)
    lengths, chosen, sums = np.zeros(len(windows.lo), np.int64), [], []
    for window, item in _sorted(windows, lengths_of(values), rank):
        heads = np.flatnonzero(run_starts(window, rank[item]))
        chosen.append(item[heads])
        sums.append(np.add.reduceat(often[item], heads) if len(heads) else often[:0])
        lengths += np.bincount(window[heads], minlength=len(lengths))
    return listed(lengths, at_places(flat, _joined(chosen))), listed(lengths, pa.array(_joined(sums)))


def newest(keys: pa.Array, times: pa.Array, lists: Sequence[pa.Array], windows: Assignment) -> list[pa.Array]:
    """For each window and key the item of the latest time; of equal times the last to arrive. Sorted by key.

    `keys`, `times`: parallel columns of lists. `lists`: the wanted columns, parallel to them. `windows`: over
    the states.
    """
    rank, time = ranks(keys.flatten()), times.flatten().to_numpy(zero_copy_only=False)

    def last_of_key(window: Ints, item: Ints) -> np.ndarray:
        return np.append(run_starts(window, rank[item])[1:], True)[: len(item)]

    return _chosen(lists, windows, [rank, time], last_of_key)


def once(lists: pa.Array, limit: int | None) -> pa.Array:
    """Each list without repeated items: the first copy of every item, up to `limit` items."""
    rank, window = ranks(lists.flatten()), np.repeat(np.arange(len(lists)), lengths_of(lists))
    order = sorted_order(window, rank)
    newest_rows = np.sort(order[run_starts(window[order], rank[order])])
    if limit is not None:
        newest_rows = newest_rows[_places(window[newest_rows]) < limit]
    return listed(
        np.bincount(window[newest_rows], minlength=len(lists)), at_places(lists.flatten(), newest_rows)
    )


def _chosen(
    lists: Sequence[pa.Array], windows: Assignment, keys: Sequence[Ints], choose: Callable[[Ints, Ints], Any]
) -> list[pa.Array]:
    """For each window the items that `choose` keeps, sorted by the keys; of parallel columns of lists."""
    counts, chosen = np.zeros(len(windows.lo), np.int64), []
    for window, item in _sorted(windows, lengths_of(lists[0]), *keys):
        places = choose(window, item)
        chosen.append(item[places])
        counts += np.bincount(window[places], minlength=len(counts))
    return [listed(counts, at_places(column.flatten(), _joined(chosen))) for column in lists]


def _sorted(windows: Assignment, lengths: Ints, *keys: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Some windows at a time: their (window, item), sorted by window, then by keys, then by arrival."""
    for window, item in pieces(windows, lengths):
        order = sorted_order(window, *(key[item] for key in keys))
        yield window[order], item[order]


def _places(window: Ints) -> Ints:
    """The place of each item within its window; windows ascend."""
    return np.arange(len(window)) - np.searchsorted(window, window)


def _places_from_end(window: Ints) -> Ints:
    """The place of each item within its window, from the last item; windows ascend."""
    return np.searchsorted(window, window, side="right") - 1 - np.arange(len(window))


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else NO_INTS


def mapped(keys: pa.Array, values: pa.Array) -> pa.Array:
    """Maps from parallel columns of lists; the keys of a list are distinct."""
    offsets = np.append(0, np.cumsum(lengths_of(keys)))
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys.flatten(), values.flatten())


def filled(lists: pa.Array) -> pa.Array:
    """The lists, with null for every empty list."""
    return pc.if_else(pc.equal(lists.value_lengths(), 0), pa.scalar(None, lists.type), lists)
