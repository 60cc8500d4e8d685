"""Chains that are cut where they grow too long: session windows with a greatest length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from pipelines.engine.event_time.chains import numbered

if TYPE_CHECKING:
    from pipelines.states.frames import Frames, Ints


def cut_chains(
    frames: Frames, reach: int, gap: int, longest: int, floor: Ints, inside: int
) -> tuple[Ints, Ints, Ints, np.ndarray[tuple[int], np.dtype[np.bool_]], Ints]:
    """Which piece of a chain each state ends up in. A state is one instant.

    Args:
        frames: the states, as wide as the clock's tick.
        reach: neighbours at most this far apart belong together.
        gap: a piece ends this long after its last event, but no later than `longest` after its first.
        longest: how long a piece may be.
        floor: per batch, the end up to which pieces were closed before it came.
        inside: how much earlier than by its end a piece closes that was cut: no event can come at its end.

    Returns:
        The piece of each state (-1: it came past its close), ascending with group and start; start and end of each
        piece; whether it was cut: whether it would have ended later; and the position of the batch that closes it.
    """
    limits = (reach, gap, longest, inside)
    label, first, last, due = _pieces(frames.group, frames.start, frames.batch, floor, limits)
    piece, start, newest, due = numbered(label, first, last, frames.group, due)
    end = np.minimum(newest + gap, start + longest)
    return piece, start, end, newest + reach >= start + longest, np.searchsorted(floor[1:], due)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pieces(group, time, batch, floor, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Cut each group into unions over all batches; replay a union by batch where a state may have met a closed piece."""
    n = len(group)
    label, due = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    first, last = np.full(n, 1, np.int64), np.full(n, 0, np.int64)
    head = 0
    while head < n:
        tail, regular = head + 1, time[head] > floor[batch[head]] + limits[3]
        while tail < n and group[tail] == group[head] and time[tail] - time[tail - 1] <= limits[0]:
            regular = regular and time[tail] > floor[batch[tail]] + limits[3]
            tail += 1
        if regular:
            _cut(np.arange(head, tail), time, batch, floor, limits, label, first, last, due)
        else:
            _replay(head, tail, time, batch, floor, limits, label, first, last, due)
        head = tail
    return label, first, last, due


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cut(rows, time, batch, floor, limits, label, first, last, due):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label rows, ascending in time, by the first row of their piece. None closes before its newest row came."""
    reach, gap, longest, inside = limits
    root = rows[0]
    for at in range(len(rows)):
        row = rows[at]
        if at == 0 or time[row] - time[rows[at - 1]] > reach or time[row] >= first[root] + longest:
            root, came = row, floor[batch[row]]
            first[root] = time[root]
        came = max(came, floor[batch[row]])
        last[root] = time[row]
        whole, most = last[root] + gap, first[root] + longest
        due[root] = max(came + 1, most - inside if last[root] + reach >= most else whole)
        label[row] = root


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _close(first, last, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The end by which a piece closes."""
    whole, most = last + limits[1], first + limits[2]
    return np.where(last + limits[0] >= most, most - limits[3], whole)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _replay(head, tail, time, batch, floor, limits, label, first, last, due):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Batch by batch: what is still open and the new states form pieces; of those past their close, new ones alone die."""
    rows = head + np.argsort(batch[head:tail], kind="mergesort")
    alive = np.empty(0, np.int64)
    at = 0
    while at < len(rows):
        now = floor[batch[rows[at]]]
        stop = at
        while stop < len(rows) and batch[rows[stop]] == batch[rows[at]]:
            stop += 1
        alive = alive[due[label[alive]] > now]
        first[alive] = 1
        last[alive] = 0
        pool = np.sort(np.concatenate((alive, rows[at:stop])))
        _cut(pool, time, batch, floor, limits, label, first, last, due)
        reached = np.zeros(tail - head, np.bool_)
        reached[label[alive] - head] = True
        root = label[pool]
        lives = reached[root - head] | (_close(first[root], last[root], limits) > now)
        dead = pool[~lives]
        first[dead] = 1
        last[dead] = 0
        label[dead] = -1
        alive = pool[lives]
        at = stop
