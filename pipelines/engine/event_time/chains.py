"""Chains: states of a key that lie within reach of each other, batch after batch. The heart of session windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from pipelines.states.frames import Frames, Ints


def chains(frames: Frames, reach: int, gap: int, floor: Ints) -> tuple[Ints, Ints, Ints]:
    """Which chain each state ends up in.

    Args:
        frames: the states, with the times of their first and last events.
        reach: neighbours at most this far apart belong together.
        gap: a chain is closed once `last event + gap` is at or before the floor of a later batch.
        floor: per batch, the instant up to which chains were closed before it came.

    Returns:
        The chain of each state (-1: the chain it came with was past its close and reached no open one), ascending with
        group and start; and of each chain the first and the last event time.
    """
    label, first, last = _chains(frames.group, frames.start, frames.batch, frames.first, frames.last, reach, gap, floor)
    chain, start, newest = numbered(label, first, last, frames.group)
    return chain, start, newest


def numbered(label: Ints, first: Ints, last: Ints, group: Ints, *more: Ints) -> tuple[Ints, ...]:
    """Renumber the chains that there are 0, 1, 2... by (group, start, end), and with them whatever is known of each."""
    member = np.zeros(len(first), np.int64)
    kept = np.flatnonzero(label >= 0)
    member[label[kept]] = kept
    used = np.flatnonzero(last >= first)
    order = used[np.lexsort((last[used], first[used], group[member[used]]))]
    number = np.full(len(first) + 1, -1)
    number[order] = np.arange(len(order))
    return number[label], *(column[order] for column in (first, last, *more))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _chains(group, start, batch, first, last, reach, gap, floor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Cut each group into unions over all batches; where a state may have met a closed chain, replay the union by batch."""
    n = len(group)
    label = np.full(n, -1, np.int64)
    chain_first, chain_last = np.full(n, 1, np.int64), np.full(n, 0, np.int64)
    head = 0
    while head < n:
        newest, tail, regular = last[head], head, True
        while tail < n and group[tail] == group[head]:
            stop, nearest = tail, first[tail]
            while stop < n and group[stop] == group[head] and start[stop] == start[tail]:
                nearest = min(nearest, first[stop])
                stop += 1
            if tail > head and nearest - newest > reach:
                break
            for row in range(tail, stop):
                newest = max(newest, last[row])
                regular = regular and first[row] > floor[batch[row]]
            tail = stop
        if regular:
            chain_first[head], chain_last[head] = first[head:tail].min(), newest
            label[head:tail] = head
        else:
            _replay(head, tail, batch, first, last, reach, gap, floor, label, chain_first, chain_last)
        head = tail
    return label, chain_first, chain_last


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _replay(head, tail, batch, first, last, reach, gap, floor, label, chain_first, chain_last):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """One union, batch by batch: drop what is closed from the open chains, merge the new states with the rest."""
    rows = head + np.argsort(batch[head:tail], kind="mergesort")
    for row in range(head, tail):
        chain_first[row], chain_last[row] = first[row], last[row]
    parent = np.arange(tail - head)
    alive = np.empty(0, np.int64)
    at = 0
    while at < len(rows):
        now = batch[rows[at]]
        stop = at
        while stop < len(rows) and batch[rows[stop]] == now:
            stop += 1
        still_open = alive[chain_last[alive] + gap > floor[now]]
        members = np.concatenate((still_open, rows[at:stop]))
        alive = _merge(members, len(still_open), head, reach, gap, floor[now], parent, chain_first, chain_last)
        at = stop
    for row in range(head, tail):
        root = row - head
        while parent[root] >= 0 and parent[root] != root:
            root = parent[root]
        label[row] = -1 if parent[root] < 0 else head + root
    for row in range(head, tail):
        if parent[row - head] != row - head:
            chain_first[row], chain_last[row] = 1, 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _merge(members, opened, head, reach, gap, floor, parent, chain_first, chain_last):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Join members within reach; return the chains that live on. One of new states only, past its close, dies."""
    order = np.argsort(chain_first[members], kind="mergesort")
    alive = np.empty(len(members), np.int64)
    count = at = 0
    while at < len(order):
        root = members[order[at]]
        reached = order[at] < opened
        stop = at + 1
        while stop < len(order) and chain_first[members[order[stop]]] - chain_last[root] <= reach:
            member = members[order[stop]]
            chain_last[root] = max(chain_last[root], chain_last[member])
            parent[member - head] = root - head
            reached = reached or order[stop] < opened
            stop += 1
        if reached or chain_last[root] + gap > floor:
            alive[count] = root
            count += 1
        else:
            parent[root - head] = -1
        at = stop
    return alive[:count]
