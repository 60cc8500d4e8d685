"""Chains: states of a key, each within reach of the next. The heart of session windows.

    states            |--|  |-|        |---|   |-|
    silence between       <=       >        <=            <= reach: same chain; > reach: a new one
    chains            |=======|        |=========|

Batches make it hard. A chain is closed once a later batch finds it behind its floor; a state that comes after
that begins a chain of its own, however near it lies. So states are linked in two steps:

1. A **union** is a chain over all batches together. If no state of a union lies at or before the floor of its
   batch, no chain in it was ever closed: the union is one chain.
2. Any other union is replayed, batch by batch.
"""

from __future__ import annotations

import numpy as np

from muntin.states.frames import NO_INTS, Frames, Ints, compiled_for_many
from muntin.states.order import sorted_order


def chains(frames: Frames, reach: int, gap: int, floor: Ints) -> tuple[Ints, Ints, Ints]:
    """The chain of each state.

    `frames`: the states, with the times of their first and last events. `reach`: the longest silence within a
    chain. `gap`: a chain is closed once `last event + gap` is at or before the floor of a later batch.
    `floor`: per batch, the instant up to which chains were closed before it came.

    Returns the chain of each state (-1: its chain was past its close when it came and reached no open one),
    ascending with group and start; and of each chain the first and the last event time.
    """
    label, first, last = _chains(
        frames.group, frames.start, frames.batch, frames.first, frames.last, reach, gap, floor
    )
    chain, start, newest = renumbered(label, first, last, frames.group)
    return chain, start, newest


def renumbered(label: Ints, first: Ints, last: Ints, group: Ints, *more: Ints) -> tuple[Ints, ...]:
    """Chains numbered 0, 1, 2... by (group, first, last).

    `label`: of each row, a row that stands for its chain; -1: no chain. `first`, `last`: of each row; where a
    row stands for no chain, `last < first`. `group`: of each row. `more`: other facts of each row that stands
    for a chain.

    Returns the chain of each row, and `first`, `last` and the other facts of each chain.
    """
    a_row = np.zeros(len(first), np.int64)  # of each chain
    labelled = np.flatnonzero(label >= 0)
    a_row[label[labelled]] = labelled
    used = np.flatnonzero(last >= first)
    order = used[sorted_order(group[a_row[used]], first[used], last[used])]
    number = np.full(len(first) + 1, -1)
    number[order] = np.arange(len(order))
    return number[label], *(column[order] for column in (first, last, *more))


@compiled_for_many
def _chains(group, start, batch, first, last, reach, gap, floor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows of each union, by its first row if it is one chain."""
    n = len(group)
    label = np.full(n, -1, np.int64)
    chain_first, chain_last = np.full(n, 1, np.int64), np.full(n, 0, np.int64)
    head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < n:
        tail, newest, never_closed = _union(head, group, start, batch, first, last, reach, floor)
        if never_closed:
            chain_first[head], chain_last[head] = first[head:tail].min(), newest
            label[head:tail] = head
        else:
            _replay(head, tail, batch, first, last, reach, gap, floor, label, chain_first, chain_last)
        head = tail
    return label, chain_first, chain_last


@compiled_for_many
def _union(head, group, start, batch, first, last, reach, floor):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The end of the union that begins at row `head`, its last event, and whether no chain in it was ever
    closed.

    Rows of one frame (`frame_tail`: behind the last of them) are taken together: their first events have no
    order.
    """
    newest, tail, never_closed = last[head], head, True
    while tail < len(group) and group[tail] == group[head]:
        frame_tail, earliest = tail, first[tail]
        while (
            frame_tail < len(group) and group[frame_tail] == group[head] and start[frame_tail] == start[tail]
        ):
            earliest = min(earliest, first[frame_tail])
            frame_tail += 1
        if tail > head and earliest - newest > reach:
            break
        for row in range(tail, frame_tail):
            newest = max(newest, last[row])
            never_closed = never_closed and first[row] > floor[batch[row]]
        tail = frame_tail
    return tail, newest, never_closed


@compiled_for_many
def _replay(head, tail, batch, first, last, reach, gap, floor, label, chain_first, chain_last):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows head..tail of one union, batch by batch.

    A chain is a tree of rows, and its root stands for it. `parent[row - head]` is the parent's number, the
    row's own for a root, and -1 for the root of a chain that came past its close.
    """
    rows = head + np.argsort(batch[head:tail], kind="mergesort")
    for row in range(head, tail):
        chain_first[row], chain_last[row] = first[row], last[row]
    parent = np.arange(tail - head)
    open_roots = NO_INTS
    at = 0
    while at < len(rows):
        now = batch[rows[at]]
        stop = at
        while stop < len(rows) and batch[rows[stop]] == now:
            stop += 1
        still_open = open_roots[chain_last[open_roots] + gap > floor[now]]
        candidates = np.concatenate((still_open, rows[at:stop]))
        open_roots = _merge(
            candidates, len(still_open), head, reach, gap, floor[now], parent, chain_first, chain_last
        )
        at = stop
    for row in range(head, tail):
        root = row - head
        while parent[root] >= 0 and parent[root] != root:
            root = parent[root]
        label[row] = -1 if parent[root] < 0 else head + root
    for row in range(head, tail):
        if parent[row - head] != row - head:
            chain_first[row], chain_last[row] = 1, 0


@compiled_for_many
def _merge(candidates, opened, head, reach, gap, floor, parent, chain_first, chain_last):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Join the candidates that are within reach of each other; return the roots of the chains that are open
    afterwards.

    The first `opened` candidates are open chains, the other candidates are new states. A chain of new states
    alone that is past its close gets no window.
    """
    order = np.argsort(chain_first[candidates], kind="mergesort")
    open_roots = np.empty(len(candidates), np.int64)
    count = at = 0
    while at < len(order):
        root = candidates[order[at]]
        holds_open_chain = order[at] < opened
        stop = at + 1
        while stop < len(order) and chain_first[candidates[order[stop]]] - chain_last[root] <= reach:
            candidate = candidates[order[stop]]
            chain_last[root] = max(chain_last[root], chain_last[candidate])
            parent[candidate - head] = root - head
            holds_open_chain = holds_open_chain or order[stop] < opened
            stop += 1
        if holds_open_chain or chain_last[root] + gap > floor:
            open_roots[count] = root
            count += 1
        else:
            parent[root - head] = -1
        at = stop
    return open_roots[:count]
