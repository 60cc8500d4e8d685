"""Tumbling by a difference that each window's row sets for the next window of its partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.engine.arrival import reading
from muntin.engine.arrival.fired import Fired, tiled
from muntin.engine.arrival.rules import Rules
from muntin.engine.arrival.tumbling_kernel import NOTED
from muntin.engine.assignment import Assignment
from muntin.engine.repeats import repeated
from muntin.states.frames import NO_INTS, Frames, Ints, compiled, run_starts


@dataclass(frozen=True, slots=True)
class Partitions:
    """Each partition's rows `[head, tail)`, the index of its next window, and the difference
    allowed there.
    """

    head: Ints
    tail: Ints
    index: Ints
    allowed: np.ndarray


@dataclass(frozen=True, slots=True)
class Closed:
    """Windows that ended, sorted by partition and index.

    Attributes:
        part: place of the partition in `Partitions`.
        index: number of the window in the partition.
        lo, hi: the rows `[lo, hi)`.
        batch: the position of the batch that ended it.
        allowed_next: by how much the next window of the partition may grow.
    """

    part: Ints
    index: Ints
    lo: Ints
    hi: Ints
    batch: Ints
    allowed_next: np.ndarray


def adapt(rules: Rules, frames: Frames) -> Fired:
    """The windows that ended, and the open rest of each partition."""
    rows, first = reading.arrived_rows(frames), rules.evict.difference
    evaluate = rows.evaluate
    if first is None or evaluate is None:
        raise ValueError("windows that set the difference for the next need a way to evaluate it")

    def following(windows: Assignment) -> np.ndarray:
        sizes = evaluate(windows, rules.following)
        return np.where(np.isnan(sizes), first, sizes)

    parts = _partitions(frames, first)
    closed = _closed(rules, frames, parts, following)
    notes, bases = _notes(closed, parts, frames, rows.noted_after)
    return tiled(_with_open(closed, parts, frames.group, len(rows.ends)), notes, bases, len(frames))


def _partitions(frames: Frames, first: float) -> Partitions:
    """The partitions that have rows; a new partition begins with the first difference."""
    counters, bases = reading.counters(frames, NOTED), reading.arrived_rows(frames).bases
    head = np.flatnonzero(run_starts(frames.group)) if len(frames) else NO_INTS
    group = frames.group[head]
    allowed = np.where(counters[:, 1] == AFTER_ALL, first, bases)[group].astype(np.float64)
    return Partitions(head, np.append(head[1:], len(frames))[: len(head)], counters[group, 0], allowed)


def _closed(
    rules: Rules, frames: Frames, parts: Partitions, following: Callable[[Assignment], np.ndarray]
) -> Closed:
    """The closed windows, in rounds: the next window of each partition, then the difference that follows."""
    value, valid, _ = reading.compared(rules.evict, frames)
    value = value.astype(np.float64)
    first, index, allowed = parts.head.copy(), parts.index.copy(), parts.allowed.copy()
    part, rounds = np.arange(len(parts.head)), []
    while len(part):
        stop = _first_beyond(first[part], parts.tail[part], value, valid, allowed[part], rules.evict.absolute)
        part, stop = part[stop >= 0], stop[stop >= 0]
        if len(part):
            allowed[part] = following(_windows(frames.group, first[part], stop))
            rounds.append((part, index[part], first[part], stop, frames.batch[stop], allowed[part]))
            first[part], index[part] = stop, index[part] + 1
    if not rounds:
        return Closed(NO_INTS, NO_INTS, NO_INTS, NO_INTS, NO_INTS, np.empty(0))
    columns = [np.concatenate(column) for column in zip(*rounds, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    return Closed(*(column[order] for column in columns))


@compiled
def _first_beyond(first, tail, value, valid, allowed, absolute):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The first row of each partition that is farther from the oldest than allowed; -1: none."""
    out = np.full(len(first), -1, np.int64)
    for at in range(len(first)):
        oldest = first[at]
        for row in range(oldest + 1, tail[at]):
            rise = value[row] - value[oldest]
            if valid[row] and valid[oldest] and (rise > allowed[at] or (absolute and -rise > allowed[at])):
                out[at] = row
                break
    return out


def _windows(group: Ints, lo: Ints, hi: Ints) -> Assignment:
    """Windows over the rows `[lo, hi)`."""
    window, within = repeated(np.arange(len(lo)), hi - lo)
    ends = np.cumsum(hi - lo)
    begins = ends - (hi - lo)
    return Assignment(
        lo[window] + within,
        window,
        group[lo],
        lo,
        hi,
        begins,
        begins,
        ends,
        NO_INTS,
        NO_INTS,
        np.zeros(len(group), np.int64),
    )


def _with_open(closed: Closed, parts: Partitions, group: Ints, open_position: int) -> np.ndarray:
    """A row for each window, as `tiled` takes them; the open rest of each partition comes last."""
    open_part = np.arange(len(parts.head))
    first, index = parts.head.copy(), parts.index.copy()
    first[closed.part], index[closed.part] = closed.hi, closed.index + 1  # of a partition the last one stays
    part, number = np.append(closed.part, open_part), np.append(closed.index, index)
    lo, hi = np.append(closed.lo, first), np.append(closed.hi, parts.tail)
    batch = np.append(closed.batch, np.full(len(open_part), open_position))
    windows = np.column_stack((group[parts.head[part]], number, lo, hi, batch, part * 0, part * 0))
    return windows[np.lexsort((number, part))]


def _notes(
    closed: Closed, parts: Partitions, frames: Frames, noted_after: Ints
) -> tuple[np.ndarray, np.ndarray]:
    """The note of each partition after some batches, as `tiled` takes it, with the allowed difference."""
    notes, bases = [], []
    own_from = np.searchsorted(closed.part, np.arange(len(parts.head) + 1))
    for part, (head, tail) in enumerate(zip(parts.head.tolist(), parts.tail.tolist(), strict=True)):
        own = slice(own_from[part], own_from[part + 1])
        for snap in noted_after.tolist():
            until = head + int(np.searchsorted(frames.batch[head:tail], snap, side="right"))
            ended = int(np.searchsorted(closed.batch[own], snap, side="right"))
            if until > head:
                lo = int(closed.hi[own][ended - 1]) if ended else head
                notes.append((snap, int(frames.group[head]), int(parts.index[part]) + ended, 0, 0, lo, until))
                bases.append(closed.allowed_next[own][ended - 1] if ended else parts.allowed[part])
    return np.array(notes, np.int64).reshape(-1, 7), np.array(bases, np.float64)
