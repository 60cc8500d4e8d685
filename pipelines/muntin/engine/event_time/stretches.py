"""Stretches: adjacent rows of a key, in order of event time, then of arrival, that belong together.

    row          a  b  c  d  e  f  g  h
    code         1  1  0  1  2  2  2  2       rows of one code stay together
    opens        x  x  .  x  x  .  .  x       which rows may begin a stretch
    closes       .  .  .  .  .  .  x  .       behind which rows a stretch ends
    stretches    |==|     |  |=====|  |

A stretch is `[first row, the row of another code)`; `[first row, closing row]`; or, as long as it may be,
`[first row, first row + limit)`. It is decided when time is known up to its end; what comes after that and
lies before it is late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.engine.arrival.reading import arrived_rows, counters, run_end
from muntin.engine.assignment import Assignment, Held
from muntin.engine.event_time.disjoint import LATE, OUTSIDE, closings, labelled
from muntin.states.frames import Flags, Frames, Ints, compiled

AT, DECIDED, TIED, TIES = (
    0,
    1,
    2,
    3,
)  # a place: the first undecided row; the instant; a start, and how many stretches began there
STRETCH = 6  # of a stretch: first and last row, end, newest batch, whether the limit ends it, number by `tie`
NOTED = 6  # of a note: position, group, decided, ties, and the rows from .. to among which it is
EVERY_BATCH, NO, YES = np.int64(2**62), np.int64(0), np.int64(1)


class Rows(NamedTuple):
    """Rows sorted by (group, time, arrival).

    Attributes:
        code: a row of another code ends a stretch.
        opens, closes: whether a row may begin a stretch, and whether it is the last row of its own.
        held: whether a note held it.
    """

    group: np.ndarray
    time: np.ndarray
    batch: np.ndarray
    code: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    held: np.ndarray


@compiled
def stretched(rows, floor, noted_after, counters, limit):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The stretches, the label of each row, and the notes.

    `rows`: as above. `floor`: per batch, the instant up to which time was known before it came.
    `noted_after`: positions of the batches after which a note is made. `counters`: of each group, what was
    decided before: the instant, and how many stretches began there. `limit`: how long a stretch may be; 0: as
    long as it likes.
    """
    label = np.full(len(rows.group), OUTSIDE, np.int64)
    out, none = np.empty((len(rows.group), STRETCH), np.int64), np.empty((0, STRETCH), np.int64)
    notes = np.empty((len(noted_after) * len(counters), NOTED), np.int64)
    count = noted = head = np.int64(0)
    while head < len(rows.group):
        tail, group = run_end(rows.group, head), rows.group[head]
        begin = np.array((head, counters[group, 0], counters[group, 0], counters[group, 1]))
        _find_late(rows, label, begin.copy(), tail, floor, limit, none)
        place = begin.copy()
        for position in noted_after:
            _walk(rows, label, place, tail, position + 1, floor[position + 1], limit, none, np.int64(0))
            ties = place[TIES] if place[TIED] == place[DECIDED] else 0
            notes[noted] = (position, group, place[DECIDED], ties, place[AT], tail)
            noted += 1
        count = _walk(rows, label, begin, tail, EVERY_BATCH, np.int64(AFTER_ALL), limit, out, count)
        head = tail
    return out[:count], label, notes[:noted]


@compiled
def _find_late(rows, label, place, tail, floor, limit, none):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Label the late rows of a group: before the instant that was decided when their batch came."""
    head, behind = place[AT], False
    for row in range(head, tail):
        behind = behind or (not rows.held[row] and rows.time[row] < floor[rows.batch[row]])
    if not behind:
        return
    order = head + np.argsort(rows.batch[head:tail], kind="mergesort")
    begin = np.int64(0)
    while begin < len(order):
        batch, stop, behind = rows.batch[order[begin]], begin, False
        while stop < len(order) and rows.batch[order[stop]] == batch:
            behind = behind or (not rows.held[order[stop]] and rows.time[order[stop]] < floor[batch])
            stop += 1
        if behind:
            _walk(rows, label, place, tail, batch, floor[batch], limit, none, np.int64(0))
            for row in order[begin:stop]:
                if not rows.held[row] and rows.time[row] < place[DECIDED]:
                    label[row] = LATE
        begin = stop


@compiled
def _walk(rows, label, place, tail, before, floor, limit, out, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Cut the rows that came before a batch, as far as is decided at the floor, and move the place.

    `out`: where stretches go, from number `count` on, with what is open at the end; without rows: nowhere.
    Returns the next number.
    """
    row, first, last, newest = place[AT], np.int64(-1), np.int64(-1), np.int64(-1)
    while row < tail and rows.time[row] <= floor:
        if label[row] == LATE or rows.batch[row] >= before:
            row += 1
            continue
        if first >= 0 and (
            rows.code[row] != rows.code[first] or (limit > 0 and rows.time[row] >= rows.time[first] + limit)
        ):
            count = _end_before(rows, place, (first, last, newest), row, tail, limit, out, count)
            first = np.int64(-1)
        if first < 0 and rows.opens[row]:
            first, newest = row, np.int64(-1)
        if first < 0:
            place[AT], place[DECIDED] = row + 1, rows.time[row]
        else:
            last, newest = row, max(newest, rows.batch[row])
            if len(out):
                label[row] = count
            if rows.closes[row]:
                count = _end(rows, place, (first, last, newest), rows.time[row], row + 1, NO, out, count)
                first = np.int64(-1)
        row += 1
    if first < 0:
        return count
    return _end_behind(rows, place, (first, last, newest), tail, floor, limit, out, count)


@compiled
def _end_before(rows, place, stretch, row, tail, limit, out, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """End a stretch before a row: where it is as long as it may be, or at the row."""
    first, last, newest = stretch
    if limit > 0 and rows.time[row] >= rows.time[first] + limit:
        return _cut(rows, place, stretch, tail, limit, out, count)
    return _end(rows, place, (first, last, max(newest, rows.batch[row])), rows.time[row], row, NO, out, count)


@compiled
def _end_behind(rows, place, stretch, tail, floor, limit, out, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """End a stretch that no row has ended: where it is as long as it may be, if the floor is that far."""
    if limit > 0 and rows.time[stretch[0]] + limit <= floor:
        return _cut(rows, place, stretch, tail, limit, out, count)
    return _end(rows, place, stretch, np.int64(AFTER_ALL), tail, NO, out, count) if len(out) else count


@compiled
def _cut(rows, place, stretch, tail, limit, out, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """End a stretch where it is as long as it may be."""
    first = stretch[0]
    end = rows.time[first] + limit
    return _end(
        rows, place, stretch, end, first + np.searchsorted(rows.time[first:tail], end), YES, out, count
    )


@compiled
def _end(rows, place, stretch, end, at, cut, out, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Note a stretch that ended, and what it decides; returns the number of the next stretch."""
    first, last, newest = stretch
    if place[TIED] != rows.time[first]:
        place[TIED], place[TIES] = rows.time[first], 0
    if len(out):
        out[count] = (first, last, end, newest, cut, place[TIES])
    place[TIES] += 1
    place[AT], place[DECIDED] = at, end
    return count + 1


@compiled
def held_rows(rows, label, notes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The rows of each note, as pairs (note, row); and which notes stay: with rows, or a decided instant."""
    total = np.int64(0)
    used = np.zeros(len(notes), np.bool_)
    for note in range(len(notes)):
        before = total
        for row in range(notes[note, 4], notes[note, 5]):
            total += label[row] != LATE and rows.batch[row] <= notes[note, 0]
        used[note] = total > before or notes[note, 2] > BEFORE_ALL
    pairs, number, count = np.empty((2, total), np.int64), np.int64(0), np.int64(0)
    for note in range(len(notes)):
        for row in range(notes[note, 4], notes[note, 5]):
            if label[row] != LATE and rows.batch[row] <= notes[note, 0]:
                pairs[0, count], pairs[1, count] = number, row
                count += 1
        number += used[note]
    return pairs, used


@dataclass(frozen=True, slots=True)
class Marks:
    """The code of each row, whether it may begin a stretch, and whether a stretch ends with it.

    `shown`: columns of windows, with the value of each row.
    """

    code: Ints
    opens: Flags
    closes: Flags
    shown: Mapping[str, pa.Array]


def stretches(
    frames: Frames,
    marks: Marks,
    floor: Ints,
    *,
    longest_us: int = 0,
    least_us: int = 0,
    lateness_us: int = 0,
) -> Assignment:
    """The windows of stretches.

    `frames`: rows, sorted by (group, time, arrival). `marks`: what cuts them. `floor`: per batch, and one
    past the last, the end up to which windows were final before it came. `longest_us`: how long a stretch
    may be; 0: as long as it likes. `least_us`: a stretch whose last row is less than this behind its first
    has no window. `lateness_us`: as of `closings`.
    """
    arrived = arrived_rows(frames)
    rows = Rows(frames.group, frames.start, frames.batch, marks.code, marks.opens, marks.closes, arrived.held)
    cut, label, notes = stretched(rows, floor, arrived.noted_after, counters(frames, 2), longest_us)
    (note, row), used = held_rows(rows, label, notes)
    position, group, *decided = np.ascontiguousarray(notes[used, :4].T)
    held = Held(
        position,
        group,
        np.stack(decided, axis=1),
        np.zeros(len(position), np.int64),
        note,
        row,
        all_open=False,
    )
    first, last, end, newest, by_limit, tie = np.ascontiguousarray(cut.T)
    long_enough = frames.start[last] - frames.start[first] >= least_us
    if not long_enough.all():
        number = np.where(long_enough, np.cumsum(long_enough) - 1, OUTSIDE)
        inside = label >= 0
        label[inside] = number[label[inside]]
        first, last, end, newest, by_limit, tie = (
            column[long_enough] for column in (first, last, end, newest, by_limit, tie)
        )
    batches = len(floor) - 1
    closed, final = closings(floor, end, np.maximum(np.searchsorted(floor[1:], end), newest), lateness_us)
    unended = (closed == batches) & ((by_limit > 0) | (end == AFTER_ALL))
    more = {name: column.take(pa.array(first)) for name, column in marks.shown.items()} | {"tie": tie}
    if longest_us:
        more["cut"] = (by_limit > 0) & ~unended
    windows = labelled(
        frames,
        label,
        frames.start[first],
        np.where(unended, frames.start[last], end),
        closings=(closed, final),
        more=more,
    )
    return replace(windows, held=held)
