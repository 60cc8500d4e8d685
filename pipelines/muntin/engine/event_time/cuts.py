"""Pieces: chains that are cut where they grow too long, or behind states that end them. Session windows with
a greatest length or an end.

    events            x  x   x     x  x     x        x       silences <= reach, until the last one
    longest           |-----------|                        a piece lasts `longest` after its first event
    pieces            |== cut ====||== cut ====|   |=|       an event from the cut on begins the next piece

As in `chains`, a union over all batches is cut at once where no piece in it was ever closed, and is replayed
batch by batch where a state may have met a closed piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.engine.event_time.chains import renumbered
from muntin.engine.event_time.disjoint import closings
from muntin.states.frames import NO_INTS, Frames, Ints, compiled


class Rules(NamedTuple):
    """Where pieces end; microseconds.

    Attributes:
        reach: the longest silence within a piece.
        gap: a piece ends this long after its last event, but no later than `longest` after its first.
        longest: how long a piece may be.
        inside: a piece that was cut closes this much before its end says: no event can come at its end.
    """

    reach: int
    gap: int
    longest: int
    inside: int


class Pieces(NamedTuple):
    """The pieces of states.

    Attributes:
        piece: of each state the number of its piece, ascending with group and start; -1: it came past its
            close.
        start, end: of each piece.
        cut: whether each piece would have ended later, had it not grown too long.
        ended: whether a state ended it: it ends at the instant of this state, which belongs to it.
        closings: the position of the batch that closes each piece, and of the last that counts in it.
    """

    piece: Ints
    start: Ints
    end: Ints
    cut: np.ndarray
    ended: np.ndarray
    closings: tuple[Ints, Ints]


def cut_chains(frames: Frames, rules: Rules, floor: Ints, ends: np.ndarray, lateness_us: int = 0) -> Pieces:
    """The pieces of states. A state is one instant.

    `frames`: the states, as wide as the clock's tick. `rules`: where pieces end. `floor`: per batch, the end
    up to which pieces were final before it came. `ends`: whether each state ends its piece: states of the
    same instant are its last, too. `lateness_us`: as of `closings`.
    """
    label, first, last, due, ended = _pieces(
        frames.group, frames.start, frames.batch, floor, ends, tuple(rules)
    )
    piece, start, newest, due, ended = renumbered(label, first, last, frames.group, due, ended)
    cut = ~ended & (newest + rules.reach >= start + rules.longest)
    end = np.where(ended, newest, np.minimum(newest + rules.gap, start + rules.longest))
    close = np.where(
        ended, newest + 1, np.where(cut, start + rules.longest, newest + rules.gap + rules.inside)
    )
    final = np.searchsorted(floor[1:], due)
    return Pieces(piece, start, end, cut, ended, closings(floor, close - rules.inside, final, lateness_us))


@compiled
def _pieces(group, time, batch, floor, ends, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows of each union by the first rows of their pieces; `due`: the floor closing a piece."""
    n = len(group)
    label, due, ended = np.full(n, -1, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    first, last = np.full(n, 1, np.int64), np.full(n, 0, np.int64)
    reach, _, _, inside = limits
    head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < n:
        tail, never_closed = head + 1, time[head] > floor[batch[head]] + inside
        while tail < n and group[tail] == group[head] and time[tail] - time[tail - 1] <= reach:
            never_closed = never_closed and time[tail] > floor[batch[tail]] + inside
            tail += 1
        if never_closed:
            _cut(np.arange(head, tail), time, batch, floor, ends, limits, label, first, last, due, ended)
        else:
            _replay(head, tail, time, batch, floor, ends, limits, label, first, last, due, ended)
        head = tail
    return label, first, last, due, ended


@compiled
def _cut(rows, time, batch, floor, ends, limits, label, first, last, due, ended):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label rows, ascending in time, by the first row of their piece, closed after its newest row came."""
    reach, _, longest, _ = limits
    root, came = rows[0], np.int64(0)
    for at in range(len(rows)):
        row, before = rows[at], rows[max(at - 1, 0)]
        behind_end = ended[root] and time[row] > time[before]
        if at == 0 or behind_end or time[row] - time[before] > reach or time[row] >= first[root] + longest:
            root, came = row, floor[batch[row]]
            first[root], ended[root] = time[root], False
        came = max(came, floor[batch[row]])
        last[root] = time[row]
        ended[root] = ended[root] or ends[row]
        due[root] = max(came + 1, _close(first[root], last[root], ended[root], limits))
        label[row] = root


@compiled
def _close(first, last, ended, limits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The floor by which a piece closes."""
    reach, gap, longest, inside = limits
    if ended:
        return last + 1 - inside
    return first + longest - inside if last + reach >= first + longest else last + gap


@compiled
def _replay(head, tail, time, batch, floor, ends, limits, label, first, last, due, ended):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the rows head..tail of one union, batch by batch.

    The rows of open pieces and the batch's new rows are cut into pieces anew. A piece of new rows alone that
    is past its close gets no window.
    """
    rows = head + np.argsort(batch[head:tail], kind="mergesort")
    open_rows = NO_INTS
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
        _cut(pool, time, batch, floor, ends, limits, label, first, last, due, ended)
        holds_open_row = np.zeros(tail - head, np.bool_)
        holds_open_row[label[open_rows] - head] = True
        stays = np.zeros(len(pool), np.bool_)
        for place in range(len(pool)):
            root = label[pool[place]]
            stays[place] = (
                holds_open_row[root - head] or _close(first[root], last[root], ended[root], limits) > now
            )
        too_late = pool[~stays]
        first[too_late] = 1
        last[too_late] = 0
        label[too_late] = -1
        open_rows = pool[stays]
        at = stop
