"""Arrays of rows for kernels of windows by arrival, the partitions that are dropped, the note of a batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival.rules import Measure, Rules
from muntin.engine.assignment import Held
from muntin.states.columns import BASE, COUNTERS, FILE_NUMBER, ROW_IN_BATCH
from muntin.states.frames import NO_INTS, Arrived, Frames, Ints, compiled, run_numbers
from muntin.states.sorted import BLANK, Arranged


@compiled
def dropped(sequence, group, batch, value, valid, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """While there are too many partitions, or too many held rows, drop the partition that was used least
    recently.

    `sequence`: rows in order of arrival. `group`, `batch`: of each row: partition, position of its batch.
    `value`, `valid`: what the delta of a tumbling window compares. `rules`: (rows that a tumbling window is
    flushed with, delta, absolute, rows that a sliding window holds at most, partitions, rows in all); -1 is
    none.

    Returns for each row the batch in which its partition was dropped before another row came to it,
    `AFTER_ALL` if it was not; and whether that was at the row itself, before anything came of it.
    """
    full, delta, absolute, cap, most, most_rows = rules
    count = int(group.max()) + 1 if len(group) else 0
    after, itself = np.full(len(group), AFTER_ALL, np.int64), np.zeros(len(group), np.bool_)
    held, oldest, last = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    exists = np.zeros(count, np.bool_)
    older, newer = (
        np.full(count + 1, count, np.int64),
        np.full(count + 1, count, np.int64),
    )  # a ring of partitions, by last use
    partitions = rows = 0
    for row in sequence:
        g = group[row]
        if exists[g]:
            newer[older[g]], older[newer[g]] = newer[g], older[g]
        else:
            partitions += 1
            exists[g] = True
        if delta >= 0 and held[g] > 0 and valid[row] and valid[oldest[g]]:
            rise = value[row] - value[oldest[g]]
            if rise > delta or (absolute and -rise > delta):
                rows -= held[g]
                held[g] = 0
        if held[g] == 0:
            oldest[g] = row
        if cap < 0 or held[g] < cap:
            held[g] += 1
            rows += 1
        last[g] = row
        older[g], newer[g] = older[count], count
        newer[older[count]] = g
        older[count] = g
        while (most >= 0 and partitions > most) or (most_rows >= 0 and rows > most_rows):
            least = newer[count]
            newer[count], older[newer[least]] = newer[least], count
            after[last[least]], itself[last[least]] = batch[row], least == g
            partitions, rows = partitions - 1, rows - held[least]
            held[least], exists[least] = 0, False
        if full > 0 and held[g] == full:
            newer[older[g]], older[newer[g]] = newer[g], older[g]
            partitions, rows = partitions - 1, rows - held[g]
            held[g], exists[g] = 0, False
    return after, itself


def arrived_rows(frames: Frames) -> Arrived:
    """The arrival of the rows."""
    if frames.arrival is None:
        raise ValueError("arrival windows need rows in order of arrival")
    return frames.arrival


def clocked(frames: Frames) -> Ints:
    """The time of arrival of each row: in its batch's interval, not before that of the row before it."""
    rows = arrived_rows(frames)
    if rows.clock is None:
        return np.zeros(len(frames), np.int64)
    inside = np.clip(rows.clock, rows.starts[frames.batch], rows.ends[frames.batch] - 1)
    _never_back(frames.group, inside)
    return inside


@compiled
def _never_back(group, clock):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for row in range(1, len(clock)):
        if group[row] == group[row - 1]:
            clock[row] = max(clock[row], clock[row - 1])


def compared(measure: Measure, frames: Frames) -> tuple[np.ndarray, np.ndarray, float]:
    """The value that a difference is about, where it is not null, and how far it may grow; -1: no limit."""
    if measure.difference is None:
        return np.zeros(len(frames)), np.zeros(len(frames), np.bool_), -1.0
    column = arrived_rows(frames).columns[measure.column]
    valid = (
        column.is_valid().to_numpy(zero_copy_only=False)
        if column.null_count
        else np.ones(len(frames), np.bool_)
    )
    if pa.types.is_integer(column.type) and float(measure.difference).is_integer():
        return (
            column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False),
            valid,
            int(measure.difference),
        )
    return (
        column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False),
        valid,
        float(measure.difference),
    )


def marked(rules: Rules, frames: Frames) -> np.ndarray:
    """Whether each row is a marker."""
    return (
        arrived_rows(frames).columns[rules.marker].to_numpy(zero_copy_only=False)
        if rules.marker
        else np.zeros(len(frames), np.bool_)
    )


def ranked(frames: Frames) -> Ints:
    """The place of each row by arrival, over all partitions."""
    rank = np.empty(len(frames), np.int64)
    place = arrived_rows(frames).columns[ROW_IN_BATCH].to_numpy(zero_copy_only=False)
    rank[np.lexsort((place, frames.batch))] = np.arange(len(frames))
    return rank


def sections(rules: Rules, frames: Frames) -> Ints:
    """A number that changes from row to row with the batch, and with the file if windows end with files."""
    if rules.ends_with != "file":
        return frames.batch
    numbers = run_numbers(
        frames.batch, arrived_rows(frames).columns[FILE_NUMBER].to_numpy(zero_copy_only=False)
    )
    numbers.setflags(write=False)  # as those of batches are: a kernel is compiled for each type
    return numbers


def counters(frames: Frames, width: int) -> np.ndarray:
    """The counters of each partition, as the last batch left them; blank at the beginning of history."""
    rows = arrived_rows(frames)
    return rows.counters if rows.counters.shape[1] else np.tile(BLANK[width], (len(rows.counters), 1))


def drops(rules: Rules, frames: Frames) -> tuple[Ints, np.ndarray]:
    """Which partitions are dropped, as too many are held, or too many rows in all.

    Returns of each row the batch in which its partition is dropped before its next row comes, AFTER_ALL if it
    is not; and whether it is dropped at the row, before anything comes of it.
    """
    if rules.most_partitions < 0 and rules.most_rows < 0:
        return np.full(len(frames), AFTER_ALL), np.zeros(len(frames), np.bool_)
    slides, rows = rules.trigger is not None, rules.evict.rows or -1
    value, valid, difference = compared(Measure() if slides else rules.evict, frames)
    flushed_with, holds_most = (-1, rows) if slides else (rows, -1)
    limits = (
        flushed_with,
        difference,
        rules.evict.absolute,
        holds_most,
        rules.most_partitions,
        rules.most_rows,
    )
    return dropped(np.argsort(ranked(frames)), frames.group, frames.batch, value, valid, limits)


def note_after(arranged: Arranged, held: Held, position: int) -> pa.Table:
    """The note after a batch: the held rows, and for each partition a row with `COUNTERS` and `BASE`; for
    `arrange_rows`.

    It says the same, row by row, wherever the work began that made it.
    """
    notes = np.flatnonzero(held.position == position)
    rows = arranged.of_note(np.sort(held.row[np.isin(held.note, notes)]))
    groups, counters, bases = _partitions(held, notes, arranged.frames.arrival)
    whole = arranged.keys.take(pa.array(groups)) if arranged.keys is not None else pa.table({})
    lists = pa.FixedSizeListArray.from_arrays(pa.array(counters.reshape(-1)), counters.shape[1]).cast(
        pa.list_(pa.int64())
    )
    blank = {
        name: pa.nulls(len(groups), kind)
        for name, kind in zip(rows.column_names, rows.schema.types, strict=True)
    }
    blank |= {name: whole[name] for name in whole.column_names} | {COUNTERS: lists, BASE: pa.array(bases)}
    partitions = pa.table(blank)
    more = {
        COUNTERS: pa.nulls(len(rows), pa.list_(pa.int64())),
        BASE: pa.nulls(len(rows), partitions[BASE].type),
    }
    return pa.concat_tables(
        [pa.table({**{name: rows[name] for name in rows.column_names}, **more}), partitions]
    )


def _partitions(held: Held, notes: Ints, arrival: Arrived | None) -> tuple[Ints, np.ndarray, np.ndarray]:
    """The partitions that rows have come to, ascending, with their counters and bases.

    Partitions without rows since the note before are as that note says.
    """
    before = arrival.counters if arrival else held.counters
    blank = BLANK[held.counters.shape[1]]
    come_to = np.flatnonzero((before != blank).any(axis=1)) if before.shape[1] else NO_INTS
    quiet = np.setdiff1d(come_to, held.group[notes])
    groups = np.append(held.group[notes], quiet)
    counters = np.vstack([held.counters[notes], before[quiet].reshape(-1, held.counters.shape[1])])
    bases = np.append(held.base[notes], arrival.bases[quiet] if arrival and len(quiet) else held.base[:0])
    order = np.argsort(groups, kind="stable")
    return groups[order], counters[order], bases[order]


@compiled
def grown(table, rows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The table with room for so many rows."""
    if rows <= len(table):
        return table
    out = np.empty((2 * rows, table.shape[1]), table.dtype)
    out[: len(table)] = table
    return out


@compiled
def exceeds(new, old, measure):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Whether a value has grown by more than it may."""
    rise = new - old
    return rise > measure.difference or (measure.absolute and -rise > measure.difference)


@compiled
def run_end(values, head):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Index after the last of the equal values that begin at `head`."""
    tail = head + 1
    while tail < len(values) and values[tail] == values[head]:
        tail += 1
    return tail
