"""Tumbling windows by arrival, cut row by row."""

from __future__ import annotations

import numpy as np
from numba import njit

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival import tumbling_steps as steps
from muntin.engine.arrival.growing import run_end
from muntin.engine.arrival.tumbling_steps import BORDER, FIRST, GROUP, HELD, NOTED, PAST, SEEN, STILL_OPEN


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def tumbled(rows, rules, markers, ends, noted_after, counters):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Cut each partition into windows.

    Args:
        rows: `TumblingRows`.
        rules: `TumblingRules`.
        markers: `Markers`.
        ends: end of each batch's interval.
        noted_after: positions of the batches after which to note what is held.
        counters: of each partition, the first three numbers of its record, as they were left.

    Returns:
        windows: (group, index, lo, hi, batch that closed it, start, end) a row, the last two of empty windows alone;
        notes: (batch, group, the record's first three, lo, hi) a row. Open windows have the position one past the last.
    """
    windows = np.empty((len(rows.group) + _empty_at_most(rows, rules, ends, counters), 7), np.int64)
    notes = np.empty((len(noted_after) * len(counters), 4 + NOTED), np.int64)
    part = np.zeros(steps.RECORD, np.int64)
    count = noted = head = np.int64(0)  # of a plain 0 Numba compiles all that is called with it once more
    while head < len(rows.group):
        tail = run_end(rows.group, head)
        steps.begin(part, counters[rows.group[head]], head, rows.group[head])
        count, noted = _cut(part, head, tail, rows, rules, markers, ends, noted_after, windows, count, notes, noted)
        head = tail
    return windows[:count], notes[:noted]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cut(part, head, tail, rows, rules, markers, ends, noted_after, windows, count, notes, noted):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Walk through a partition, row by row: before a row, batches end and time passes. The open window comes last."""
    batch, clock, rank, drop_after, drops_itself = rows.batch, rows.clock, rows.rank, rows.drop_after, rows.drops_itself
    value, known, section, marker = rows.value, rows.known, rows.section, rows.marker  # all out of the loop
    mark_rank, mark_batch, latest, snap, never = markers.rank, markers.batch, len(ends), np.int64(0), np.int64(AFTER_ALL)
    age_us = rules.age_us if rules.age_us > 0 else AFTER_ALL
    by_others = len(mark_rank) > 0 or rules.together
    for row in range(head, tail):
        if snap < len(noted_after) and noted_after[snap] < batch[row]:
            count, noted, snap = _over(
                part, row - head, batch[row], rows, rules, markers, ends, noted_after, snap, windows, count, notes, noted
            )
        now = clock[row]
        if by_others or now >= part[BORDER] or now - part[SEEN] > age_us:
            ending = steps.ended_outside(part, now, rank[row], latest, rank, drop_after, mark_rank, mark_batch, ends, rules)
            count = steps.closed(windows, count, part, ending, rules)
        first = part[FIRST]
        if part[HELD] > 0:
            if rules.sectioned and section[row] != section[first]:
                count = steps.closed(windows, count, part, (batch[first], never, False), rules)
            elif now - part[SEEN] > age_us:
                count = steps.closed(windows, count, part, (batch[row], never, True), rules)
            elif rules.difference >= 0 and known[row] and known[first] and steps.exceeds(value[row], value[first], rules):
                count = steps.closed(windows, count, part, (batch[row], never, False), rules)
        steps.come_in(part, row, clock, marker, rules)
        if not marker[row] and (drops_itself[row] or part[HELD] == rules.rows):
            count = steps.closed(windows, count, part, (batch[row], never, drops_itself[row]), rules)
    count, noted, _ = _over(part, tail - head, never, rows, rules, markers, ends, noted_after, snap, windows, count, notes, noted)
    return steps.closed(windows, count, part, _at_last(part, rows, rules, markers, ends), rules), noted


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _over(part, came, before, rows, rules, markers, ends, noted_after, snap, windows, count, notes, noted):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Batches before one are over, `came` rows into the partition: windows that end with them, and what is held then."""
    while snap < len(noted_after) and noted_after[snap] < before:
        if came > 0:
            count = steps.closed(windows, count, part, _ended_by(part, noted_after[snap], rows, rules, markers, ends), rules)
            notes[noted, 0], notes[noted, 1] = noted_after[snap], part[GROUP]
            notes[noted, 2 : 2 + NOTED] = part[:NOTED]
            notes[noted, 2 + NOTED], notes[noted, 3 + NOTED] = part[FIRST], part[FIRST] + part[HELD]
            noted += 1
        snap += 1
    return count, noted, snap


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _at_last(part, rows, rules, markers, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """How the last window ended; what is open then has the position one past the last batch."""
    batch, border, dropped = _ended_by(part, len(ends) - 1, rows, rules, markers, ends)
    return len(ends) if batch == STILL_OPEN and part[HELD] > 0 else batch, border, dropped


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ended_by(part, position, rows, rules, markers, ends):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """How the window ended by the end of a batch."""
    never = np.int64(AFTER_ALL)
    if rules.sectioned and part[HELD] > 0:
        return rows.batch[part[FIRST]], never, False
    return steps.ended_outside(part, ends[position], never, position, rows.rank, rows.drop_after, markers.rank, markers.batch, ends, rules)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _empty_at_most(rows, rules, ends, counters):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Upper bound of the number of empty windows before and between the windows with rows."""
    most, group, clock, size = 0, rows.group, rows.clock, rules.time_us
    if rules.dense and size > 0 and len(group):
        latest = max(ends[-1], clock.max())
        for row in range(len(group)):
            if row == 0 or group[row] != group[row - 1]:
                most += latest // size - min(clock[row], counters[group[row], PAST]) // size + 2
    return most
