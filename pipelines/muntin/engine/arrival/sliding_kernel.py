"""Sliding windows by arrival in one partition. IBM Streams, `Runtime/Window/*Sliding*`.

Every step reads and writes the partition's record, an array of integers::

    rows of the partition      a  b  c  d  e  f  g  h
                                     |           |
                                   FIRST        row: it comes now

    held are the rows from FIRST on that came before `row`, but rows that left by difference; HELD: how many.
    When d left, e may still be held: it came later, but is larger. What is held need not be neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival.reading import exceeds, grown, run_end
from muntin.states.frames import compiled

# The record. Its first eight numbers are what a note says of a partition, in this order.
INDEX = 0  # of the next window
SINCE = 1  # rows since a trigger by count fired
TOTAL = 2  # rows so far
FULL = 3  # 1: the window was full once
FRESH = 4  # 1: a row came since the last result
BASED = 5  # 1: there is a base, from which a trigger by difference measures
TICKED = 6  # the last border of time at which a trigger by time was checked
SEEN = 7  # when the last row came
NOTED = 8  # so many numbers
FIRST = 8  # the oldest row that is held
HELD = 9  # how many rows are held
WENT_DOWN = 10  # 1: among the held rows a value may be less than the one before it
GROUP = 11  # number of the partition
FIRED = 12  # windows so far, of all partitions
NOTES = 13  # notes so far, of all partitions
RECORD = 14


class Measured(NamedTuple):
    """A `Measure` in numbers: one of rows, time and difference; the other two are 0 or false."""

    rows: int
    time_us: int
    by_difference: bool
    difference: float
    absolute: bool


class SlidingRules(NamedTuple):
    """When rows leave, and when there are results. `age_us`: AFTER_ALL if partitions never grow too old."""

    evict: Measured
    trigger: Measured
    origin: int
    incomplete: bool
    age_us: int


class SlidingRows(NamedTuple):
    """Rows sorted by partition and arrival.

    group, batch, clock: partition, position of the batch, arrival time.
    value, value_valid: what eviction by difference compares.
    signal, signal_valid: what a trigger by difference compares.
    carried: whether the row was held when the partition was left last; held rows come first.
    drop_after: the batch in which the partition is dropped before its next row comes; AFTER_ALL if it is not.
    drops_itself: whether the partition is dropped at the row, before anything comes of it.
    """

    group: np.ndarray
    batch: np.ndarray
    clock: np.ndarray
    value: np.ndarray
    value_valid: np.ndarray
    signal: np.ndarray
    signal_valid: np.ndarray
    carried: np.ndarray
    drop_after: np.ndarray
    drops_itself: np.ndarray


@compiled
def begin(part, counters, head, held, group):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Take a partition up as it was left: what was counted, and how many rows were held."""
    part[:NOTED] = counters
    part[FIRST], part[HELD], part[WENT_DOWN], part[GROUP] = head, held, 0, group


@compiled
def forget(part, row):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Drop the partition: all begins anew at a row, but its windows are numbered on."""
    part[FIRST], part[HELD], part[WENT_DOWN] = row, 0, 0
    part[SINCE], part[BASED], part[FULL], part[FRESH] = 0, 0, 0, 0


@compiled
def arrive(part, now, trigger, origin):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """A row has come. Borders of time count from the first row that is held."""
    if trigger.time_us > 0 and part[HELD] == 0:
        part[TICKED] = origin + (now - origin) // trigger.time_us * trigger.time_us
    part[SEEN] = now


@compiled
def expire(part, row, now, clock, evict):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Expire rows that came too long ago. The trigger of a window that runs empty keeps its state."""
    if evict.time_us > 0:
        while part[FIRST] < row and now - clock[part[FIRST]] > evict.time_us:
            part[FIRST] += 1
            part[HELD] -= 1


@compiled
def grow_old(part, row, now, clock, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Drop a partition that no row came to for too long, unless time has emptied it before."""
    if part[HELD] > 0 and now - part[SEEN] > rules.age_us:
        if 0 < rules.evict.time_us < rules.age_us:
            expire(part, row, now, clock, rules.evict)
        else:
            forget(part, row)


@compiled
def fires_before(part, row, signal, valid, bases, trigger):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a trigger by difference fires at a row, before it comes in. The row is the next base then."""
    if not trigger.by_difference or not valid[row]:
        return False
    group = part[GROUP]
    fires = part[BASED] == 1 and exceeds(signal[row], bases[group], trigger)
    if fires or part[BASED] == 0:
        bases[group], part[BASED] = signal[row], 1
    return fires


@compiled
def make_room(part, row, value, valid, evict, evicted_by):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Evict rows for an arriving row: the oldest by count, all that are too far away by difference."""
    if evict.rows > 0 and part[HELD] == evict.rows:
        part[FIRST] += 1
        part[HELD] -= 1
    elif evict.by_difference and valid[row]:
        before = part[HELD]
        _leave(part, row, value, valid, evict, evicted_by)
        if part[HELD] < before:
            part[FULL] = 1
        while part[FIRST] < row and evicted_by[part[FIRST]] < AFTER_ALL:
            part[FIRST] += 1
        if part[HELD] == 0:
            part[WENT_DOWN] = 0
        elif may_go_down(row, value, valid):
            part[WENT_DOWN] = 1


@compiled
def _leave(part, row, value, valid, evict, evicted_by):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Evict by difference: the oldest rows while values never went down; else all rows are checked."""
    oldest_only = part[WENT_DOWN] == 0 and not evict.absolute
    for at in range(part[FIRST], row):
        if evicted_by[at] == AFTER_ALL and valid[at]:
            if exceeds(value[row], value[at], evict):
                evicted_by[at] = row
                part[HELD] -= 1
            elif oldest_only:
                break


@compiled
def may_go_down(row, value, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a value may be less than the value before it."""
    return value[row] < value[row - 1] or not valid[row - 1]


@compiled
def come_in(part, evict):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The row is held from now on."""
    part[TOTAL] += 1
    part[HELD] += 1
    part[FRESH] = 1
    if evict.time_us > 0 or (evict.rows > 0 and part[HELD] == evict.rows):
        part[FULL] = 1


@compiled
def fires_after(part, trigger):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a trigger by count fires, now that a row is in."""
    if trigger.rows == 0:
        return False
    part[SINCE] += 1
    if part[SINCE] < trigger.rows:
        return False
    part[SINCE] = 0
    return True


@compiled
def ready(part, incomplete):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a window that fires gives a result."""
    return part[HELD] > 0 and (part[FULL] == 1 or incomplete)


LATEST = AFTER_ALL // 2  # an age that no partition reaches; half, as it is added to instants


@compiled
def slid(rows, rules, ends, noted_after, counters, bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The windows that fire in each partition.

    `rows`: `SlidingRows`. `rules`: `SlidingRules`. `ends`: end of each batch's interval. `noted_after`:
    positions of the batches after which to note what is held. `counters`, `bases`: of each partition, as they
    were left. Bases are changed.

    Returns windows: (group, index, lo, hi, batch that fired it, rows held) a row. Open windows have the
    position one past the last. notes: (batch, group, the record's first eight, lo, hi) a row, and the base
    beside each. evicted_by: of each row, the row that made it leave by difference. A window `[lo, hi)` holds
    its rows that no row before hi made leave. Empty where rows do not leave by difference.
    """
    windows = np.empty((1024, 6), np.int64)
    notes = np.empty((len(noted_after) * len(counters), 4 + NOTED), np.int64)
    noted_bases = np.empty(len(notes), bases.dtype)
    evicted_by = np.full(len(rows.group) if rules.evict.by_difference else 0, AFTER_ALL)
    part = np.zeros(RECORD, np.int64)
    head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < len(rows.group):
        tail = run_end(rows.group, head)
        _begun(part, head, tail, counters, rows)
        windows = _walked(
            part, head, tail, rows, rules, ends, noted_after, bases, evicted_by, windows, notes, noted_bases
        )
        head = tail
    return windows[: part[FIRED]], notes[: part[NOTES]], noted_bases[: part[NOTES]], evicted_by


@compiled
def _begun(part, head, tail, counters, rows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Take a partition up; the rows that were held come first."""
    held = np.int64(0)
    while head + held < tail and rows.carried[head + held]:
        held += 1
    begin(part, counters[rows.group[head]], head, held, rows.group[head])
    for row in range(head + 1, head + held):
        if may_go_down(row, rows.value, rows.value_valid):
            part[WENT_DOWN] = 1


@compiled
def _walked(part, head, tail, rows, rules, ends, noted_after, bases, evicted_by, windows, notes, noted_bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Walk through a partition, row by row; the windows that are open at the end of the last batch come last.

    Before a row comes batches end and time goes by. A trigger by difference: trigger, evict, insert; by
    count: evict, insert, trigger.
    """
    batch, clock, drop_after, drops_itself = (
        rows.batch,
        rows.clock,
        rows.drop_after,
        rows.drops_itself,
    )  # out of the loop
    value, valid, signal, signal_valid = rows.value, rows.value_valid, rows.signal, rows.signal_valid
    snap = 0
    for row in range(head + part[HELD], tail):
        drop = drop_after[row - 1] if row > head else AFTER_ALL
        while snap < len(noted_after) and noted_after[snap] < batch[row]:
            windows = _over(part, row, noted_after[snap], drop, clock, ends, rules, windows)
            if row > head:
                _note(part, row, noted_after[snap], bases, notes, noted_bases)
            snap += 1
        windows = _gone_by(part, row, head, clock[row], drop, clock, ends, rules, windows)
        if fires_before(part, row, signal, signal_valid, bases, rules.trigger) and ready(
            part, rules.incomplete
        ):
            windows = _fired(part, row, batch[row], windows)
        make_room(part, row, value, valid, rules.evict, evicted_by)
        come_in(part, rules.evict)
        if drops_itself[row]:
            forget(part, row + 1)
        elif fires_after(part, rules.trigger) and ready(part, rules.incomplete):
            windows = _fired(part, row + 1, batch[row], windows)
    for position in noted_after[snap:]:
        windows = _over(part, tail, position, drop_after[tail - 1], clock, ends, rules, windows)
        _note(part, tail, position, bases, notes, noted_bases)
    windows = _over(part, tail, len(ends), drop_after[tail - 1], clock, ends, rules, windows)
    if part[HELD] > 0 and part[FRESH] == 1:
        windows = _fired(part, tail, len(ends), windows)
    return windows


@compiled
def _gone_by(part, row, head, now, drop, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Time goes by until a row comes: borders of time, dropped partitions, rows that expire."""
    if rules.trigger.time_us > 0:
        windows = _ticked(part, row, now, clock, ends, rules, windows)
    grow_old(part, row, now, clock, rules)
    if row > head and drop < AFTER_ALL:
        forget(part, row)
    arrive(part, now, rules.trigger, rules.origin)
    expire(part, row, now, clock, rules.evict)
    return windows


@compiled
def _over(part, row, position, drop, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A batch is over before a row comes; `position` behind the last: all are. `drop`: of the partition."""
    until = ends[min(position, len(ends) - 1)]
    if rules.trigger.time_us > 0:
        windows = _ticked(part, row, until, clock, ends, rules, windows)
    grow_old(part, row, until, clock, rules)
    if drop <= position:
        forget(part, row)
    return windows


@compiled
def _ticked(part, row, until, clock, ends, rules, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The borders of time up to an instant, as long as rows are held and the partition is not too old."""
    until = min(until, part[SEEN] + rules.age_us)
    tick = part[TICKED] + rules.trigger.time_us
    while tick <= until and part[HELD] > 0:
        expire(part, row, tick, clock, rules.evict)
        if ready(part, rules.incomplete):
            windows = _fired(part, row, np.searchsorted(ends, tick), windows)
        part[TICKED] = tick
        tick += rules.trigger.time_us
    return windows


@compiled
def _fired(part, stop, position, windows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A window of what is held of the rows before `stop`."""
    at = part[FIRED]
    if at == len(windows):
        windows = grown(windows, at + 1)
    windows[at, 0], windows[at, 1], windows[at, 2] = part[GROUP], part[INDEX], part[FIRST]
    windows[at, 3], windows[at, 4], windows[at, 5] = stop, position, part[HELD]
    part[FIRED], part[INDEX], part[FRESH] = at + 1, part[INDEX] + 1, 0
    return windows


@compiled
def _note(part, stop, position, bases, notes, noted_bases):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The record of the partition after a batch, and the range of the rows that it holds."""
    at = part[NOTES]
    notes[at, 0], notes[at, 1], noted_bases[at] = position, part[GROUP], bases[part[GROUP]]
    notes[at, 2 : 2 + NOTED] = part[:NOTED]
    notes[at, 2 + NOTED], notes[at, 3 + NOTED] = part[FIRST], stop
    part[NOTES] = at + 1
