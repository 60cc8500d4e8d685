"""Tumbling windows by arrival: the rows of a partition, cut where a rule says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.engine.arrival import reading
from muntin.engine.arrival.fired import Fired, tiled
from muntin.engine.arrival.reading import exceeds, run_end
from muntin.engine.arrival.rules import Measure, Rules
from muntin.engine.arrival.tumbling_kernel import (
    INDEX,
    NOTED,
    SEEN,
    Markers,
    TumblingRows,
    TumblingRules,
    tumbled,
)
from muntin.states.frames import NO_INTS, Frames, compiled


class PlainRows(NamedTuple):
    """Rows sorted by partition and arrival, as `TumblingRows`; arrays that are not read are empty."""

    group: np.ndarray
    batch: np.ndarray
    clock: np.ndarray
    value: np.ndarray
    valid: np.ndarray


class PlainRules(NamedTuple):
    """When windows end; 0 rows, or a difference of -1, is none."""

    rows: int
    difference: float
    absolute: bool


@compiled
def tumbled_plain(rows, rules, noted_after, counters, latest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Windows and notes, as `tumbled` gives them. `latest`: the position of windows that stay open."""
    windows = np.empty((len(rows.group), 7), np.int64)
    notes = np.empty((len(noted_after) * len(counters), 4 + NOTED), np.int64)
    count = noted = head = np.int64(0)
    while head < len(rows.group):
        tail = run_end(rows.group, head)
        group, part = rows.group[head], counters[rows.group[head]].copy()
        first, held, snap, row = head, np.int64(0), np.int64(0), head
        while row < tail or snap < len(noted_after):
            border = _border(rows.batch, noted_after, snap, row, tail)
            while row < border:
                if held == 0:
                    first = row
                stop = _stop(rows, rules, first, held, row, border)
                held += stop - row
                if len(rows.clock) and stop > row:
                    part[SEEN] = rows.clock[stop - 1]
                full = held == rules.rows
                if full or stop < border:
                    windows[count] = (
                        group,
                        part[INDEX],
                        first,
                        first + held,
                        rows.batch[stop - 1 if full else stop],
                        0,
                        0,
                    )
                    part[INDEX], held, count = part[INDEX] + 1, np.int64(0), count + 1
                row = stop
            if snap < len(noted_after):
                if row > head:
                    notes[noted, 0], notes[noted, 1] = noted_after[snap], group
                    notes[noted, 2 : 2 + NOTED] = part
                    notes[noted, 2 + NOTED], notes[noted, 3 + NOTED] = first, first + held
                    noted += 1
                snap += 1
        if held > 0:
            windows[count] = (group, part[INDEX], first, first + held, latest, 0, 0)
            count += 1
        head = tail
    return windows[:count], notes[:noted]


@compiled
def _border(batch, noted_after, snap, row, tail):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Index after the last row, counted from `row`, that comes before the next note."""
    if snap == len(noted_after):
        return tail
    return row + np.searchsorted(batch[row:tail], noted_after[snap], side="right")


@compiled
def _stop(rows, rules, first, held, row, border):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Index after the last row of the window of that many rows from `first`."""
    end = border if rules.rows == 0 else min(border, row + rules.rows - held)
    if rules.difference < 0 or not rows.valid[first]:
        return end
    stop = row + 1 if held == 0 else row
    while stop < end:
        if rows.valid[stop] and exceeds(rows.value[stop], rows.value[first], rules):
            break
        stop += 1
    return stop


def tumble(rules: Rules, frames: Frames) -> Fired:
    """The windows that were full or ended, and what is open at the end."""
    if rules.ends_by_rows_alone:
        return _by_rows_alone(rules.evict, frames)
    rows, evict = reading.arrived_rows(frames), rules.evict
    value, valid, difference = reading.compared(evict, frames)
    marker = reading.marked(rules, frames)
    rank = reading.ranked(frames) if marker.any() else np.zeros(len(frames), np.int64)
    markers = np.flatnonzero(marker)[np.argsort(rank[marker])]
    windows, notes = tumbled(
        TumblingRows(
            frames.group, frames.batch, rank, reading.clocked(frames), value, valid,
            reading.sections(rules, frames), marker, *reading.drops(rules, frames),
        ),
        TumblingRules(
            evict.rows, difference, evict.absolute, evict.time_us, rows.origin, bool(rules.ends_with),
            rules.dense, rules.age_us, rules.emit, rules.most_partitions >= 0 or rules.most_rows >= 0,
        ),
        Markers(rank[markers], frames.batch[markers]),
        rows.ends,
        rows.noted_after,
        reading.counters(frames, NOTED),
    )  # fmt: skip
    return tiled(windows, notes, np.zeros(len(notes), np.int64), len(frames))


def _by_rows_alone(evict: Measure, frames: Frames) -> Fired:
    rows, nothing = reading.arrived_rows(frames), NO_INTS
    clock = nothing if rows.clock is None else reading.clocked(frames)
    value, valid, difference = (
        (nothing, nothing > 0, -1.0) if evict.difference is None else reading.compared(evict, frames)
    )
    windows, notes = tumbled_plain(
        PlainRows(frames.group, frames.batch, clock, value, valid),
        PlainRules(evict.rows, difference, evict.absolute),
        rows.noted_after,
        reading.counters(frames, NOTED),
        len(rows.ends),
    )
    return tiled(windows, notes, np.zeros(len(notes), np.int64), len(frames))
