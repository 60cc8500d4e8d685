"""Tumbling arrival windows: the rows of a partition, cut where a rule says. IBM Streams, `*TumblingWindowImpl.h`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipelines.definition.instants import AFTER_ALL


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def tumbled(group, batch, rank, clock, value, known, section, marker, marks, marks_batch, ends, rules, counters, snaps, drops):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, C901, PLR0912, PLR0915
    """Cut each partition into windows.

    Args:
        group, batch, rank, clock: of each row: partition, position of its batch, place by arrival, arrival time.
        value, known: what delta compares, and whether it is known.
        section: number of the file or batch of each row; windows end with it if `rules` say so.
        marker: whether a row is a marker, and no member.
        marks, marks_batch: place and batch of every marker, ascending.
        ends: end of each batch's interval.
        rules: (count, delta, absolute, tick, origin, sectioned, dense, age, emit); 0 or -1 is none.
        counters: per partition: next index, end of the last time window that was not empty, last access.
        snaps: positions of the batches after which to note what is held.
        drops: of each row the batch in which its partition is dropped before the next one comes, and whether at the row itself.

    Returns:
        windows: (group, index, lo, hi, batch that fired it, start, end) a row, the last two of empty windows alone;
        notes: (batch, group, index, end, access, lo, hi) a row. Open windows have the position one past the last.
    """
    count, delta, absolute, tick, origin, sectioned, dense, age, emit = rules
    after, itself = drops
    border = (tick, origin, marks, marks_batch, ends, age)
    bordered = tick > 0 or age > 0 or len(marks) > 0 or np.any(after < AFTER_ALL)
    windows = np.empty((len(group) + _empty_at_most(group, clock, counters, ends, tick, dense), 7), np.int64)
    notes = np.empty((len(snaps) * len(counters), 7), np.int64)
    w = k = head = 0
    while head < len(group):
        g, tail = group[head], head
        while tail < len(group) and group[tail] == g:
            tail += 1
        index, past, seen = counters[g, 0], counters[g, 1], counters[g, 2]
        s, held, snap = head, 0, 0
        for row in range(head, tail + 1):
            there = row < tail
            while snap < len(snaps) and (not there or snaps[snap] < batch[row]):
                if row > head:
                    fired, until, gone = _over(
                        s, held, seen, clock, rank, after[s + max(held, 1) - 1], border, ends[snaps[snap]], AFTER_ALL, snaps[snap]
                    )
                    fired = batch[s] if sectioned and held > 0 else fired
                    if fired >= 0:
                        if emit or not gone:
                            w, index, past = _tumble(windows, w, g, index, past, s, s + held, fired, until, tick, dense)
                        held = 0
                    notes[k] = (snaps[snap], g, index, past, seen, s, s + held)
                    k += 1
                snap += 1
            if not there:
                break
            fired, until, gone = -1, AFTER_ALL, False
            if held > 0 and bordered:
                fired, until, gone = _over(s, held, seen, clock, rank, after[s + held - 1], border, clock[row], rank[row], len(ends))
            if held > 0 and sectioned and section[row] != section[s]:
                fired, gone = batch[s], False
            if held > 0 and fired < 0 and age > 0 and clock[row] - seen > age:
                fired, gone = batch[row], True
            if held > 0 and fired < 0 and delta >= 0 and not marker[row] and known[row] and known[s]:
                rise = value[row] - value[s]
                if rise > delta or (absolute and -rise > delta):
                    fired, until, gone = batch[row], AFTER_ALL, False
            if fired >= 0:
                if emit or not gone:
                    w, index, past = _tumble(windows, w, g, index, past, s, s + held, fired, until, tick, dense)
                held = 0
            seen = clock[row]
            if marker[row]:
                continue
            if held == 0:
                s = row
            held += 1
            if itself[row] or held == count:
                if emit or not itself[row]:
                    w, index, past = _tumble(windows, w, g, index, past, s, s + held, batch[row], AFTER_ALL, tick, dense)
                held = 0
        if held > 0:
            fired, until, gone = _over(s, held, seen, clock, rank, after[s + held - 1], border, ends[-1], AFTER_ALL, len(ends))
            fired = batch[s] if sectioned else fired if fired >= 0 else len(ends)
            if emit or not gone:
                w, index, past = _tumble(windows, w, g, index, past, s, s + held, fired, until, tick, dense)
        head = tail
    return windows[:w].copy(), notes[:k].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _empty_at_most(group, clock, counters, ends, tick, dense):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """No more empty windows than this lie before and between those with rows."""
    most = 0
    if dense and tick > 0 and len(group):
        latest = max(ends[-1], clock.max())
        for row in range(len(group)):
            if row == 0 or group[row] != group[row - 1]:
                most += latest // tick - min(clock[row], counters[group[row], 1]) // tick + 2
    return most


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _over(s, held, seen, clock, rank, dropped, border, now, before, latest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The batch in which a window ended that holds rows from `s` on, up to an instant, a place and a batch; -1: none yet.

    Also the end of its stretch of time, and whether it did not end but was dropped, as no row had come for too long.
    """
    tick, origin, marks, marks_batch, ends, age = border
    if held == 0:
        return -1, AFTER_ALL, False
    if dropped <= latest:
        return dropped, AFTER_ALL, True
    until = origin + ((clock[s] - origin) // tick + 1) * tick if tick > 0 else AFTER_ALL
    if age > 0:
        late = np.searchsorted(ends, seen + age, side="right")
        first = min(until if until > seen + age else AFTER_ALL, ends[late] if late < len(ends) else AFTER_ALL)
        if first <= now and first <= until:
            return np.searchsorted(ends, first), until, True
    if until <= now:
        return np.searchsorted(ends, until), until, False
    if len(marks):
        place = np.searchsorted(marks, rank[s])
        if place < len(marks) and marks[place] < before and marks_batch[place] <= latest:
            return marks_batch[place], AFTER_ALL, False
    return -1, until, False


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _tumble(windows, w, g, index, past, lo, hi, fired, until, tick, dense):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Note a window, and before it the empty ones since the last."""
    if dense and past < AFTER_ALL and until < AFTER_ALL:
        for end in range(past + tick, until, tick):
            windows[w] = (g, index, lo, lo, fired, end - tick, end)
            w, index = w + 1, index + 1
    windows[w] = (g, index, lo, hi, fired, 0, 0)
    return w + 1, index + 1, until if until < AFTER_ALL else past
