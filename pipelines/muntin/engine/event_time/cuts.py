"""Pieces: chains that are cut where they grow too long. Session windows with a greatest length.

    events            x  x   x     x  x     x        x       silences <= reach, until the last one
    longest           |-----------|                          a piece lasts `longest` after its first event at most
    pieces            |== cut ====||== cut ====|   |=|       an event at the cut or later begins the next piece

As in `chains`, a union over all batches is cut at once where no piece in it was ever closed, and is replayed batch by batch
where a state may have met a closed piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from muntin.engine.event_time.chains import renumbered

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


def cut_chains(
    frames: Frames, reach: int, gap: int, longest: int, floor: Ints, inside: int
) -> tuple[Ints, Ints, Ints, np.ndarray[tuple[int], np.dtype[np.bool_]], Ints]:
    """The piece of each state. A state is one instant.

    Args:
        frames: the states, as wide as the clock's tick.
        reach: the longest silence within a piece.
        gap: a piece ends this long after its last event, but no later than `longest` after its first.
        longest: how long a piece may be, microseconds.
        floor: per batch, the end up to which pieces were closed before it came.
        inside: a piece that was cut closes this much before its end says: no event can come at its end.

    Returns:
        The piece of each state (-1: it came past its close), ascending with group and start; start and end of each
        piece; whether it was cut (it would have ended later); and the position of the batch that closes it.
    """
    limits = (reach, gap, longest, inside)
    label, first, last, due = _pieces(frames.group, frames.start, frames.batch, floor, limits)
    piece, start, newest, due = renumbered(label, first, last, frames.group, due)
    end = np.minimum(newest + gap, start + longest)
    return piece, start, end, newest + reach >= start + longest, np.searchsorted(floor[1:], due)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pieces(group, time, batch, floor, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows of each union by the first rows of their pieces; `due`: the floor from which a piece is closed."""
    n = len(group)
    label, due = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    first, last = np.full(n, 1, np.int64), np.full(n, 0, np.int64)
    reach, _, _, inside = limits
    head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < n:
        tail, never_closed = head + 1, time[head] > floor[batch[head]] + inside
        while tail < n and group[tail] == group[head] and time[tail] - time[tail - 1] <= reach:
            never_closed = never_closed and time[tail] > floor[batch[tail]] + inside
            tail += 1
        if never_closed:
            _cut(np.arange(head, tail), time, batch, floor, limits, label, first, last, due)
        else:
            _replay(head, tail, time, batch, floor, limits, label, first, last, due)
        head = tail
    return label, first, last, due


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cut(rows, time, batch, floor, limits, label, first, last, due):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label rows, ascending in time, by the first row of their piece. A piece is not closed before its newest row came."""
    reach, gap, longest, inside = limits
    root = rows[0]
    for at in range(len(rows)):
        row = rows[at]
        if at == 0 or time[row] - time[rows[at - 1]] > reach or time[row] >= first[root] + longest:
            root, came = row, floor[batch[row]]
            first[root] = time[root]
        came = max(came, floor[batch[row]])
        last[root] = time[row]
        quiet_end, cut_end = last[root] + gap, first[root] + longest
        due[root] = max(came + 1, cut_end - inside if last[root] + reach >= cut_end else quiet_end)
        label[row] = root


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _close(first, last, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The end by which a piece closes."""
    reach, gap, longest, inside = limits
    quiet_end, cut_end = last + gap, first + longest
    return np.where(last + reach >= cut_end, cut_end - inside, quiet_end)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _replay(head, tail, time, batch, floor, limits, label, first, last, due):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows head..tail of one union, batch by batch.

    The rows of open pieces and the batch's new rows are cut into pieces anew. A piece of new rows alone that is past its
    close gets no window.
    """
    rows = head + np.argsort(batch[head:tail], kind="mergesort")
    open_rows = np.empty(0, np.int64)
    at = 0
    while at < len(rows):
        now = floor[batch[rows[at]]]
        stop = at
        while stop < len(rows) and batch[rows[stop]] == batch[rows[at]]:
            stop += 1
        open_rows = open_rows[due[label[open_rows]] > now]
        first[open_rows] = 1
        last[open_rows] = 0
        pool = np.sort(np.concatenate((open_rows, rows[at:stop])))
        _cut(pool, time, batch, floor, limits, label, first, last, due)
        holds_open_row = np.zeros(tail - head, np.bool_)
        holds_open_row[label[open_rows] - head] = True
        root = label[pool]
        stays = holds_open_row[root - head] | (_close(first[root], last[root], limits) > now)
        too_late = pool[~stays]
        first[too_late] = 1
        last[too_late] = 0
        label[too_late] = -1
        open_rows = pool[stays]
        at = stop
