"""Sliding arrival windows: eviction and trigger, nine pairs. IBM Streams, `Runtime/Window/*Sliding*`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipelines.definition.instants import AFTER_ALL
from pipelines.engine.arrival.growing import added

COUNT, TIME, DELTA = 0, 1, 2
INDEX, SINCE, TOTAL, FULL, FRESH, BASED, TICKED, SEEN = range(8)  # what is known of a partition, beside the base


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def slid(group, batch, clock, leaving, triggering, held_before, ends, rules, counters, bases, snaps, drops):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, C901, PLR0912, PLR0915
    """The windows that fire in each partition.

    Args:
        group, batch, clock: of each row: partition, position of its batch, arrival time.
        leaving, triggering: (values, known) that eviction and trigger compare by delta.
        held_before: whether a row is one that was held when the partition was left last.
        ends: end of each batch's interval.
        rules: (evict by, its size, absolute, trigger by, its size, absolute, origin of ticks, incomplete, age); a delta's
            sizes stand in `leaving` and `triggering`.
        counters, bases: of each partition, as they were left.
        snaps: positions of the batches after which to note what is held.
        drops: of each row the batch in which its partition is dropped before the next one comes, and whether at the row itself.

    Returns:
        windows: (group, index, lo, hi, batch that fired it, members) a row; open ones have the position one past the
            last. Where members are fewer than hi - lo they are listed in `scattered`: (window, row).
        place: of each row, how many came before it in its partition.
        notes: (batch, group, counters...) a row, `noted`: their bases, and `kept`: (note, row) of what is held.
    """
    evict, size, falls, trigger, every, trigger_falls, origin, incomplete, age = rules
    value, known, delta = leaving
    after, itself = drops
    signal, clear, step = triggering
    windows, scattered = np.empty((1024, 6), np.int64), np.empty((64, 2), np.int64)
    notes, kept = np.empty((64, 10), np.int64), np.empty((64, 2), np.int64)
    noted = np.empty((64, 1), bases.dtype)
    place, gone = np.zeros(len(group), np.int64), np.zeros(len(group), np.bool_)
    out = (windows, 0, scattered, 0)
    spared, leave = age if age > 0 else AFTER_ALL // 2, size if evict == TIME else AFTER_ALL  # half: it is added to instants
    ticking = (clock, gone, ends, every, leave)
    k = h = head = 0
    while head < len(group):
        g, tail = group[head], head
        while tail < len(group) and group[tail] == g:
            tail += 1
        index, since, total, full = counters[g, INDEX], counters[g, SINCE], counters[g, TOTAL], counters[g, FULL]
        fresh, based, ticked, seen = counters[g, FRESH], counters[g, BASED], counters[g, TICKED], counters[g, SEEN]
        base = bases[g]
        lo, held, snap, fell = head, 0, 0, False
        while head + held < tail and held_before[head + held]:
            held += 1
        for at in range(held):
            place[head + at] = total - held + at
            fell = fell or (at > 0 and (value[head + at] < value[head + at - 1] or not known[head + at - 1]))
        for row in range(head + held, tail + 1):
            there = row < tail
            while snap < len(snaps) + 1 and (not there or (snap < len(snaps) and snaps[snap] < batch[row])):
                until = ends[snaps[snap]] if snap < len(snaps) else ends[-1]
                if trigger == TIME and held > 0:
                    state, ready = (g, lo, row, held, index, fresh, ticked), full == 1 or incomplete
                    out, lo, held, index, fresh, ticked = _ticks(out, state, min(until, seen + spared), ready, ticking)
                if until - seen > spared or (row > head and after[row - 1] <= (snaps[snap] if snap < len(snaps) else len(ends))):
                    lo, held, since, based, full, fresh, fell = row, 0, 0, 0, 0, 0, False
                if row > head and snap < len(snaps):
                    k_now = k
                    noted_row = (snaps[snap], g, index, since, total, full, fresh, based, ticked, seen)
                    k, notes = added(notes, k, noted_row)
                    _, noted = added(noted, k_now, (base,))
                    for at in range(lo, row):
                        if not gone[at]:
                            h, kept = added(kept, h, (k_now, at))
                snap += 1
            if not there:
                break
            now = clock[row]
            if trigger == TIME:
                if held > 0:
                    state, ready = (g, lo, row, held, index, fresh, ticked), full == 1 or incomplete
                    out, lo, held, index, fresh, ticked = _ticks(out, state, min(now, seen + spared), ready, ticking)
                if held == 0:
                    since, based, fresh = 0, 0, 0
            if row > head and (now - seen > spared or after[row - 1] < AFTER_ALL):
                lo, held, since, based, full, fresh, fell = row, 0, 0, 0, 0, 0, False
            if trigger == TIME and held == 0:
                ticked = origin + (now - origin) // every * every
            seen = now
            if evict == TIME:
                before = held
                while lo < row and now - clock[lo] > size:
                    lo += 1
                    held -= 1
                if before > 0 and held == 0:
                    since, based, fresh = 0, 0, 0
                full = 1
            if trigger == DELTA and clear[row]:
                if based == 0:
                    base, based = signal[row], 1
                elif signal[row] - base > step or (trigger_falls and base - signal[row] > step):
                    if held > 0 and (full == 1 or incomplete):
                        out = _fire(out, g, index, lo, row, held, batch[row], gone)
                        index, fresh = index + 1, 0
                    base = signal[row]
            if evict == COUNT and held == size:
                lo += 1
                held -= 1
            if evict == DELTA and known[row]:
                before = held
                at = lo
                while at < row:
                    rise = value[row] - value[at]
                    if not gone[at] and known[at] and (rise > delta or (falls and -rise > delta)):
                        gone[at] = True
                        held -= 1
                    elif not gone[at] and not fell and known[at] and not falls:
                        break
                    at += 1
                if held < before:
                    full = 1
                while lo < row and gone[lo]:
                    lo += 1
                fell = held > 0 and (fell or value[row] < value[row - 1] or not known[row - 1])
            place[row] = total
            total += 1
            held += 1
            fresh = 1
            if itself[row]:
                lo, held, since, based, full, fresh, fell = row + 1, 0, 0, 0, 0, 0, False
                continue
            if evict == COUNT and held == size:
                full = 1
            if trigger == COUNT:
                since += 1
                if since == every:
                    since = 0
                    if full == 1 or incomplete:
                        out = _fire(out, g, index, lo, row + 1, held, batch[row], gone)
                        index, fresh = index + 1, 0
        if held > 0 and fresh == 1:
            out = _fire(out, g, index, lo, tail, held, len(ends), gone)
        head = tail
    windows, w, scattered, x = out
    return windows[:w], scattered[:x], place, notes[:k], noted[:k, 0], kept[:h]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fire(out, g, index, lo, hi, held, fired, gone):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Note a window, and its rows one by one if they are not all those between two."""
    windows, w, scattered, x = out
    if held < hi - lo:
        for row in range(lo, hi):
            if not gone[row]:
                x, scattered = added(scattered, x, (w, row))
    w, windows = added(windows, w, (g, index, lo, hi, fired, held))
    return windows, w, scattered, x


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ticks(out, partition, until, ready, ticking):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fire at each tick after the last one up to an instant, as long as rows are held; rows older than `leave` go first."""
    g, lo, row, held, index, fresh, ticked = partition
    clock, gone, ends, every, leave = ticking
    tick = ticked + every
    while tick <= until and held > 0:
        while lo < row and tick - clock[lo] > leave:
            lo += 1
            held -= 1
        if held > 0 and ready:
            out = _fire(out, g, index, lo, row, held, np.searchsorted(ends, tick), gone)
            index, fresh = index + 1, 0
        ticked = tick
        tick += every
    return out, lo, held, index, fresh, ticked
