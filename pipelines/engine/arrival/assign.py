"""Arrival windows: from rows in order of arrival, and what was held before them, to ranges of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numba import njit

from pipelines.definition.instants import AFTER_ALL
from pipelines.engine.arrival.adaptive import adapted
from pipelines.engine.arrival.blocks import blocks_of, bounded, grouped, ranges
from pipelines.engine.arrival.limits import dropped
from pipelines.engine.arrival.rules import Measure
from pipelines.engine.arrival.sliding import COUNT, DELTA, TIME, slid
from pipelines.engine.arrival.tumbling import tumbled
from pipelines.engine.assignment import Assignment, Held
from pipelines.engine.repeats import repeated
from pipelines.states.columns import FILE_NUMBER, ROW_IN_BATCH
from pipelines.states.frames import run_numbers
from pipelines.states.sorted_by_arrival import BLANK

if TYPE_CHECKING:
    from pipelines.engine.arrival.rules import Rules
    from pipelines.states.frames import Arrived, Frames, Ints

_NOTHING = np.empty(0, np.int64)


def arrived(rules: Rules, frames: Frames, batches: int) -> Assignment:
    """The windows of rows in order of arrival.

    Args:
        rules: when windows end, or fire.
        frames: the rows, sorted by partition and arrival; what was held before comes first.
        batches: how many there are; windows that are open have that position.
    """
    rows = frames.arrival
    if rows is None:
        raise ValueError("arrival windows need rows in order of arrival")
    clock = _clock(rows, frames)
    fire = _slide if rules.trigger else _adapt if rules.following else _tumble
    found, block, scattered, held = fire(rules, frames, rows, clock)
    group, index, lo, hi, closed = found[:, 0], found[:, 1], found[:, 2], found[:, 3], found[:, 4]
    order, block, lo, mid, hi = ranges(frames.group, block, lo, hi, scattered)
    if rules.flush:
        closed = np.minimum(closed, batches - 1)
    bounds = (found[:, 5], found[:, 6]) if rules.dense else (group * 0, group * 0)
    none = np.zeros(len(frames), np.int64)
    plain = Assignment(
        order, block, group, bounds[0], bounds[1], lo, mid, hi, _NOTHING, _NOTHING, none, closed, {"window_index": index}, held
    )
    return bounded(grouped(plain, rules.groups, rows) if rules.groups else plain, frames, dense=rules.dense)


def _clock(rows: Arrived, frames: Frames) -> Ints:
    """The time of arrival of each row: within its batch's interval, and never before that of the row before it."""
    if rows.clock is None:
        return np.zeros(len(frames), np.int64)
    inside = np.clip(rows.clock, rows.starts[frames.batch], rows.ends[frames.batch] - 1)
    _never_back(frames.group, inside)
    return inside


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _never_back(group, clock):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for row in range(1, len(clock)):
        if group[row] == group[row - 1]:
            clock[row] = max(clock[row], clock[row - 1])


def _compared(measure: Measure, rows: Arrived, count: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The value that a difference is about, where it is known, and by how much it may grow; -1: there is no difference."""
    if measure.difference is None:
        return np.zeros(count), np.zeros(count, np.bool_), -1.0
    column = rows.columns[measure.column]
    known = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_integer(column.type) and float(measure.difference).is_integer():
        return column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), known, int(measure.difference)
    return column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), known, float(measure.difference)


def _tumble(rules: Rules, frames: Frames, rows: Arrived, clock: Ints) -> tuple[np.ndarray, Ints, np.ndarray, Held]:
    evict = rules.evict
    value, known, delta = _compared(evict, rows, len(frames))
    marker = rows.columns[rules.marker].to_numpy(zero_copy_only=False) if rules.marker else np.zeros(len(frames), np.bool_)
    rank = _rank(rows, frames) if marker.any() else np.zeros(len(frames), np.int64)
    marked = np.flatnonzero(marker)[np.argsort(rank[marker])]
    counters = _counters(rows, 3)
    found, notes = tumbled(
        frames.group, frames.batch, rank, clock, value, known, _sections(rows, frames, rules.ends_with), marker,
        rank[marked], frames.batch[marked], rows.ends,
        (evict.rows, delta, evict.absolute, evict.time_us, rows.origin, bool(rules.ends_with), rules.dense, rules.age_us, rules.emit),
        counters, rows.snaps, _drops(rules, frames, rows),
    )  # fmt: skip
    block = np.zeros(len(frames) + 1, np.int64)
    block[found[:, 2]] = 1
    block[found[:, 3]] = 1
    note, row = _held_rows(notes[:, 5], notes[:, 6])
    return (
        found,
        np.cumsum(block[:-1]),
        np.empty((0, 2), np.int64),
        Held(notes[:, 0], notes[:, 1], notes[:, 2:5], notes[:, 0] * 0, note, row),
    )


def _drops(rules: Rules, frames: Frames, rows: Arrived) -> tuple[Ints, np.ndarray]:
    """Which partitions go, as there are too many or too much is held in all of them."""
    if rules.most_partitions < 0 and rules.most_rows < 0:
        return np.full(len(frames) + 1, AFTER_ALL), np.zeros(len(frames), np.bool_)
    evict, slides = rules.evict, rules.trigger is not None
    count = evict.rows or -1
    value, known, delta = _compared(Measure() if slides else evict, rows, len(frames))
    limits = (-1 if slides else count, delta, evict.absolute, count if slides else -1, rules.most_partitions, rules.most_rows)
    after, itself = dropped(np.argsort(_rank(rows, frames)), frames.group, frames.batch, value, known, limits)
    return np.append(after, AFTER_ALL), itself


def _adapt(rules: Rules, frames: Frames, rows: Arrived, clock: Ints) -> tuple[np.ndarray, Ints, np.ndarray, Held]:  # noqa: ARG001 - as its siblings
    first, evaluate = rules.evict.difference, rows.evaluate
    if first is None or evaluate is None:
        raise ValueError("windows that set the difference for the next need a way to evaluate it")
    value, known, _ = _compared(rules.evict, rows, len(frames))
    counters = _counters(rows, 3)
    allowed = np.where(counters[:, 1] == AFTER_ALL, first, rows.bases)  # a partition that is new begins with the first

    def following(windows: Assignment) -> np.ndarray:
        sizes = evaluate(windows, rules.following)
        return np.where(np.isnan(sizes), first, sizes)

    values, limits = (value.astype(np.float64), known), (allowed, counters[:, 0])
    found, notes, bases = adapted(frames, values, limits, following, rows.snaps, len(rows.ends), absolute=rules.evict.absolute)
    block = np.zeros(len(frames) + 1, np.int64)
    block[found[:, 2]] = 1
    note, row = _held_rows(notes[:, 5], notes[:, 6])
    return found, np.cumsum(block[:-1]), np.empty((0, 2), np.int64), Held(notes[:, 0], notes[:, 1], notes[:, 2:5], bases, note, row)


def _rank(rows: Arrived, frames: Frames) -> Ints:
    """The place of each row by arrival, over all partitions."""
    rank = np.empty(len(frames), np.int64)
    rank[np.lexsort((rows.columns[ROW_IN_BATCH].to_numpy(zero_copy_only=False), frames.batch))] = np.arange(len(frames))
    return rank


def _sections(rows: Arrived, frames: Frames, ends_with: str) -> Ints:
    """A number that changes from row to row with the batch, and the file if windows end with files."""
    return run_numbers(frames.batch, rows.columns[FILE_NUMBER].to_numpy(zero_copy_only=False)) if ends_with == "file" else frames.batch


def _held_rows(lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    note, within = repeated(np.arange(len(lo)), hi - lo)
    return note, lo[note] + within


def _slide(rules: Rules, frames: Frames, rows: Arrived, clock: Ints) -> tuple[np.ndarray, Ints, np.ndarray, Held]:
    measures = (rules.evict, rules.trigger or Measure())
    (evict, size, falls), (trigger, every, trigger_falls) = (_numbers(measure) for measure in measures)
    leaving, triggering = (_compared(measure, rows, len(frames)) for measure in measures)
    found, scattered, place, notes, bases, kept = slid(
        frames.group, frames.batch, clock, leaving, triggering, rows.held, rows.ends,
        (evict, size, falls, trigger, every, trigger_falls, rows.origin, rules.incomplete, rules.age_us),
        _counters(rows, 8), rows.bases.astype(triggering[0].dtype), rows.snaps,
        _drops(rules, frames, rows),
    )  # fmt: skip
    block = blocks_of(evict, size, place, clock, leaving)
    explicit = scattered if len(scattered) else np.empty((0, 2), np.int64)
    return found, block, explicit, Held(notes[:, 0], notes[:, 1], notes[:, 2:], bases, kept[:, 0], kept[:, 1])


def _counters(rows: Arrived, width: int) -> np.ndarray:
    return rows.counters if rows.counters.shape[1] else np.tile(BLANK[width], (len(rows.counters), 1))


def _numbers(measure: Measure) -> tuple[int, int, bool]:
    if measure.rows:
        return COUNT, measure.rows, False
    if measure.time_us:
        return TIME, measure.time_us, False
    return DELTA, 0, measure.absolute
