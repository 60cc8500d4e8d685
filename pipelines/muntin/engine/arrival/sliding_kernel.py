"""Sliding windows by arrival, walked row by row. IBM Streams, `Runtime/Window/*Sliding*`."""

from __future__ import annotations

import numpy as np
from numba import njit

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival import sliding_steps as steps
from muntin.engine.arrival.growing import grown, run_end
from muntin.engine.arrival.sliding_steps import FIRST, FOUND, FRESH, GROUP, HELD, INDEX, NOTED, NOTES, SEEN, TICKED, WENT_DOWN


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def slid(rows, rules, ends, noted_after, counters, bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The windows that fire in each partition.

    Args:
        rows: `SlidingRows`.
        rules: `SlidingRules`.
        ends: end of each batch's interval.
        noted_after: positions of the batches after which to note what is held.
        counters, bases: of each partition, as they were left. Bases are changed.

    Returns:
        windows: (group, index, lo, hi, batch that fired it, rows held) a row. Open windows have the position one past the last.
        notes: (batch, group, the record's first eight, lo, hi) a row, and the base beside each.
        evicted_by: of each row, the row that made it leave by difference. A window `[lo, hi)` holds the rows between these
            that no row before hi made leave. Empty where rows do not leave by difference.
    """
    windows, notes = np.empty((1024, 6), np.int64), np.empty((len(noted_after) * len(counters), 4 + NOTED), np.int64)
    noted_bases = np.empty(len(notes), bases.dtype)
    evicted_by = np.full(len(rows.group) if rules.evict.by_difference else 0, AFTER_ALL)
    part = np.zeros(steps.RECORD, np.int64)
    head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < len(rows.group):
        tail = run_end(rows.group, head)
        _begun(part, head, tail, counters, rows)
        windows = _walked(part, head, tail, rows, rules, ends, noted_after, bases, evicted_by, windows, notes, noted_bases)
        head = tail
    return windows[: part[FOUND]], notes[: part[NOTES]], noted_bases[: part[NOTES]], evicted_by


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _begun(part, head, tail, counters, rows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Take a partition up; the rows that were held come first."""
    held = np.int64(0)
    while head + held < tail and rows.carried[head + held]:
        held += 1
    steps.begin(part, counters[rows.group[head]], head, held, rows.group[head])
    for row in range(head + 1, head + held):
        if steps.may_go_down(row, rows.value, rows.value_known):
            part[WENT_DOWN] = 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _walked(part, head, tail, rows, rules, ends, noted_after, bases, evicted_by, windows, notes, noted_bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Walk through a partition, row by row; the windows that are open at the end of the last batch come last.

    Before a row comes batches end and time goes by. A trigger by difference: trigger, evict, insert; by count: evict, insert, trigger.
    """
    batch, clock, drop_after, drops_itself = rows.batch, rows.clock, rows.drop_after, rows.drops_itself  # out of the loop
    value, known, signal, signal_known = rows.value, rows.value_known, rows.signal, rows.signal_known
    snap = 0
    for row in range(head + part[HELD], tail):
        drop = drop_after[row - 1] if row > head else AFTER_ALL
        while snap < len(noted_after) and noted_after[snap] < batch[row]:
            windows = _over(part, row, noted_after[snap], drop, clock, ends, rules, windows)
            if row > head:
                _note(part, row, noted_after[snap], bases, notes, noted_bases)
            snap += 1
        windows = _gone_by(part, row, head, clock[row], drop, clock, ends, rules, windows)
        if steps.fires_before(part, row, signal, signal_known, bases, rules.trigger) and steps.ready(part, rules.incomplete):
            windows = _fired(part, row, batch[row], windows)
        steps.make_room(part, row, value, known, rules.evict, evicted_by)
        steps.come_in(part, rules.evict)
        if drops_itself[row]:
            steps.forget(part, row + 1)
        elif steps.fires_after(part, rules.trigger) and steps.ready(part, rules.incomplete):
            windows = _fired(part, row + 1, batch[row], windows)
    for position in noted_after[snap:]:
        windows = _over(part, tail, position, drop_after[tail - 1], clock, ends, rules, windows)
        _note(part, tail, position, bases, notes, noted_bases)
    windows = _over(part, tail, len(ends), drop_after[tail - 1], clock, ends, rules, windows)
    if part[HELD] > 0 and part[FRESH] == 1:
        windows = _fired(part, tail, len(ends), windows)
    return windows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gone_by(part, row, head, now, drop, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Time has gone by until a row comes: borders of time, partitions dropped, rows that came too long ago."""
    if rules.trigger.time_us > 0:
        windows = _ticked(part, row, now, clock, ends, rules, windows)
    steps.grow_old(part, row, now, clock, rules)
    if row > head and drop < AFTER_ALL:
        steps.forget(part, row)
    steps.arrive(part, now, rules.trigger, rules.origin)
    steps.expire(part, row, now, clock, rules.evict)
    return windows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _over(part, row, position, drop, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A batch is over before a row comes; `position` behind the last: all are. `drop`: the batch that drops the partition."""
    until = ends[min(position, len(ends) - 1)]
    if rules.trigger.time_us > 0:
        windows = _ticked(part, row, until, clock, ends, rules, windows)
    steps.grow_old(part, row, until, clock, rules)
    if drop <= position:
        steps.forget(part, row)
    return windows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ticked(part, row, until, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The borders of time up to an instant, as long as rows are held; a partition that grows too old sees no more."""
    until = min(until, part[SEEN] + rules.age_us)
    tick = part[TICKED] + rules.trigger.time_us
    while tick <= until and part[HELD] > 0:
        steps.expire(part, row, tick, clock, rules.evict)
        if steps.ready(part, rules.incomplete):
            windows = _fired(part, row, np.searchsorted(ends, tick), windows)
        part[TICKED] = tick
        tick += rules.trigger.time_us
    return windows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fired(part, stop, position, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A window of what is held of the rows before `stop`."""
    at = part[FOUND]
    if at == len(windows):
        windows = grown(windows, at + 1)
    windows[at, 0], windows[at, 1], windows[at, 2] = part[GROUP], part[INDEX], part[FIRST]
    windows[at, 3], windows[at, 4], windows[at, 5] = stop, position, part[HELD]
    part[FOUND], part[INDEX], part[FRESH] = at + 1, part[INDEX] + 1, 0
    return windows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _note(part, stop, position, bases, notes, noted_bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The record of the partition after a batch, and the range of the rows that it holds."""
    at = part[NOTES]
    notes[at, 0], notes[at, 1], noted_bases[at] = position, part[GROUP], bases[part[GROUP]]
    notes[at, 2 : 2 + NOTED] = part[:NOTED]
    notes[at, 2 + NOTED], notes[at, 3 + NOTED] = part[FIRST], stop
    part[NOTES] = at + 1
