"""When a tumbling window of one partition ends, and what is written down then. IBM Streams,
`*TumblingWindowImpl.h`.

A partition's record is an array of integers::

    rows of the partition      a  b  c  d  e  f  g  h
                               `-----'  |     |  |
                               window 0 FIRST    row: it comes now

    held are the HELD rows from FIRST on; here d, e and f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival.reading import exceeds, run_end
from muntin.states.frames import compiled

# The record. Its first three numbers are what a note says of a partition, in this order.
INDEX = 0  # of the next window
PAST = 1  # the end of the last window by time that held rows; AFTER_ALL: none yet
SEEN = 2  # when the last row came
NOTED = 3  # so many numbers
FIRST = 3  # the oldest row that is held
HELD = 4  # how many rows are held
BORDER = 5  # of held rows: the end of their stretch of time; AFTER_ALL: windows do not end by time
GROUP = 6  # number of the partition
RECORD = 7


class TumblingRules(NamedTuple):
    """When windows end; 0, or of `difference` -1, is none.

    sectioned: whether they end with each batch or file.
    together: whether a partition may drop other partitions.
    """

    rows: int
    difference: float
    absolute: bool
    time_us: int
    origin: int
    sectioned: bool
    dense: bool
    age_us: int
    emit: bool
    together: bool


class TumblingRows(NamedTuple):
    """Rows sorted by partition and arrival.

    group, batch: partition, position of the batch.
    rank: place by arrival, over all partitions; 0 where there are no markers.
    clock: arrival time.
    value, valid: what the difference is about.
    section: number of the batch or file.
    marker: whether the row is a marker, and belongs to no window.
    drop_after: the batch in which the partition is dropped before its next row comes; AFTER_ALL if it is not.
    drops_itself: whether the partition is dropped at the row, before anything comes of it.
    """

    group: np.ndarray
    batch: np.ndarray
    rank: np.ndarray
    clock: np.ndarray
    value: np.ndarray
    valid: np.ndarray
    section: np.ndarray
    marker: np.ndarray
    drop_after: np.ndarray
    drops_itself: np.ndarray


class Markers(NamedTuple):
    """Rank and batch of every marker, ascending."""

    rank: np.ndarray
    batch: np.ndarray


@compiled
def begin(part, counters, head, group):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Continue a partition as the last batch left it; held rows come first, like all earlier rows."""
    part[:NOTED] = counters
    part[FIRST], part[HELD], part[GROUP] = head, 0, group


# How a window ended: (position of the batch, end of its stretch of time, whether its partition was dropped).
STILL_OPEN = -1


@compiled
def ended_outside(part, now, before, latest, rank, drop_after, mark_rank, mark_batch, ends, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How the window ended by events outside its partition: up to an instant, a rank, a batch."""
    batch, border, dropped = STILL_OPEN, AFTER_ALL, False
    if part[HELD] > 0:
        first = part[FIRST]
        drop = drop_after[first + part[HELD] - 1]
        if drop <= latest:
            batch, dropped = drop, True
        elif len(mark_rank):
            at = np.searchsorted(mark_rank, rank[first])
            if at < len(mark_rank) and mark_rank[at] < before and mark_batch[at] <= latest:
                batch = mark_batch[at]
        else:
            batch, border, dropped = ended_by_time(part, now, ends, rules)
    return batch, border, dropped


@compiled
def ended_by_time(part, now, ends, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How a window with rows ended up to an instant: the partition grew too old, or a border came."""
    batch, border, dropped = STILL_OPEN, part[BORDER], False
    old = _looked_at(part[SEEN] + rules.age_us, border, ends) if rules.age_us > 0 else AFTER_ALL
    if old <= now and old <= border:
        batch, dropped = int(np.searchsorted(ends, old)), True
    elif border <= now:
        batch = int(np.searchsorted(ends, border))
    return batch, border, dropped


@compiled
def _looked_at(old_from, border, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """When a partition is seen to be too old behind an instant: at a border of time or a batch's end."""
    at = np.searchsorted(ends, old_from, side="right")
    batch_end = ends[at] if at < len(ends) else AFTER_ALL
    return min(border if border > old_from else AFTER_ALL, batch_end)


@compiled
def come_in(part, row, clock, marker, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The row is held from now on; a marker is only seen."""
    part[SEEN] = clock[row]
    if not marker[row]:
        if part[HELD] == 0:
            part[FIRST], part[BORDER] = row, AFTER_ALL
            if rules.time_us > 0:
                part[BORDER] = (
                    rules.origin + ((clock[row] - rules.origin) // rules.time_us + 1) * rules.time_us
                )
        part[HELD] += 1


@compiled
def closed(windows, count, part, ending, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """How many windows there are, now that a window may have ended; its rows are held no more."""
    if ending[0] != STILL_OPEN:
        if rules.emit or not ending[2]:
            count = _written(windows, count, part, ending[0], ending[1], rules.time_us if rules.dense else 0)
        part[HELD] = 0
    return count


@compiled
def _written(windows, count, part, batch, border, empty_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write a window, after empty windows of `empty_us` since the last; returns how many there are."""
    first = part[FIRST]
    if empty_us > 0 and part[PAST] < AFTER_ALL and border < AFTER_ALL:
        for end in range(part[PAST] + empty_us, border, empty_us):
            windows[count] = (part[GROUP], part[INDEX], first, first, batch, end - empty_us, end)
            part[INDEX] += 1
            count += 1
    windows[count] = (part[GROUP], part[INDEX], first, first + part[HELD], batch, 0, 0)
    part[INDEX] += 1
    if border < AFTER_ALL:
        part[PAST] = border
    return count + 1


@compiled
def tumbled(rows, rules, markers, ends, noted_after, counters):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Cut each partition into windows.

    `rows`: `TumblingRows`. `rules`: `TumblingRules`. `markers`: `Markers`. `ends`: end of each batch's
    interval. `noted_after`: positions of the batches after which to note what is held. `counters`: of each
    partition, the first three numbers of its record, as they were left.

    Returns windows: (group, index, lo, hi, batch that closed it, start, end) a row, the last two of empty
    windows alone; notes: (batch, group, the record's first three, lo, hi) a row. Open windows have the
    position one past the last.
    """
    windows = np.empty((len(rows.group) + _empty_at_most(rows, rules, ends, counters), 7), np.int64)
    notes = np.empty((len(noted_after) * len(counters), 4 + NOTED), np.int64)
    part = np.zeros(RECORD, np.int64)
    count = noted = head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < len(rows.group):
        tail = run_end(rows.group, head)
        begin(part, counters[rows.group[head]], head, rows.group[head])
        count, noted = _cut(
            part, head, tail, rows, rules, markers, ends, noted_after, windows, count, notes, noted
        )
        head = tail
    return windows[:count], notes[:noted]


@compiled
def _cut(part, head, tail, rows, rules, markers, ends, noted_after, windows, count, notes, noted):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Walk through a partition: before a row, batches end and time passes. The open window comes last."""
    batch, clock, rank, drop_after, drops_itself = (
        rows.batch,
        rows.clock,
        rows.rank,
        rows.drop_after,
        rows.drops_itself,
    )
    value, valid, section, marker = rows.value, rows.valid, rows.section, rows.marker  # all out of the loop
    mark_rank, mark_batch, latest, snap, never = (
        markers.rank,
        markers.batch,
        len(ends),
        np.int64(0),
        np.int64(AFTER_ALL),
    )
    age_us = rules.age_us if rules.age_us > 0 else AFTER_ALL
    by_others = len(mark_rank) > 0 or rules.together
    for row in range(head, tail):
        if snap < len(noted_after) and noted_after[snap] < batch[row]:
            count, noted, snap = _over(
                part,
                row - head,
                batch[row],
                rows,
                rules,
                markers,
                ends,
                noted_after,
                snap,
                windows,
                count,
                notes,
                noted,
            )
        now = clock[row]
        if by_others or now >= part[BORDER] or now - part[SEEN] > age_us:
            ending = ended_outside(
                part, now, rank[row], latest, rank, drop_after, mark_rank, mark_batch, ends, rules
            )
            count = closed(windows, count, part, ending, rules)
        first = part[FIRST]
        if part[HELD] > 0:
            if rules.sectioned and section[row] != section[first]:
                count = closed(windows, count, part, (batch[first], never, False), rules)
            elif now - part[SEEN] > age_us:
                count = closed(windows, count, part, (batch[row], never, True), rules)
            elif (
                rules.difference >= 0
                and valid[row]
                and valid[first]
                and exceeds(value[row], value[first], rules)
            ):
                count = closed(windows, count, part, (batch[row], never, False), rules)
        come_in(part, row, clock, marker, rules)
        if not marker[row] and (drops_itself[row] or part[HELD] == rules.rows):
            count = closed(windows, count, part, (batch[row], never, drops_itself[row]), rules)
    count, noted, _ = _over(
        part, tail - head, never, rows, rules, markers, ends, noted_after, snap, windows, count, notes, noted
    )
    return closed(windows, count, part, _at_last(part, rows, rules, markers, ends), rules), noted


@compiled
def _over(part, came, before, rows, rules, markers, ends, noted_after, snap, windows, count, notes, noted):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Batches before `before` are over: windows that end with them, and what is held then."""
    while snap < len(noted_after) and noted_after[snap] < before:
        if came > 0:
            count = closed(
                windows, count, part, _ended_by(part, noted_after[snap], rows, rules, markers, ends), rules
            )
            notes[noted, 0], notes[noted, 1] = noted_after[snap], part[GROUP]
            notes[noted, 2 : 2 + NOTED] = part[:NOTED]
            notes[noted, 2 + NOTED], notes[noted, 3 + NOTED] = part[FIRST], part[FIRST] + part[HELD]
            noted += 1
        snap += 1
    return count, noted, snap


@compiled
def _at_last(part, rows, rules, markers, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """How the last window ended; what is open then has the position one past the last batch."""
    batch, border, dropped = _ended_by(part, len(ends) - 1, rows, rules, markers, ends)
    return len(ends) if batch == STILL_OPEN and part[HELD] > 0 else batch, border, dropped


@compiled
def _ended_by(part, position, rows, rules, markers, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """How the window ended by the end of a batch."""
    never = np.int64(AFTER_ALL)
    if rules.sectioned and part[HELD] > 0:
        return rows.batch[part[FIRST]], never, False
    return ended_outside(
        part,
        ends[position],
        never,
        position,
        rows.rank,
        rows.drop_after,
        markers.rank,
        markers.batch,
        ends,
        rules,
    )


@compiled
def _empty_at_most(rows, rules, ends, counters):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Upper bound of the number of empty windows before and between the windows with rows."""
    most, group, clock, size = 0, rows.group, rows.clock, rules.time_us
    if rules.dense and size > 0 and len(group):
        latest = max(ends[-1], clock.max())
        for row in range(len(group)):
            if row == 0 or group[row] != group[row - 1]:
                most += latest // size - min(clock[row], counters[group[row], PAST]) // size + 2
    return most
