"""Tumbling by a difference that each window sets for the next one: what it may grow by is said by the row of the window before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from pipelines.engine.assignment import Assignment
from pipelines.engine.repeats import repeated
from pipelines.states.frames import run_starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.states.frames import Frames, Ints

_NONE = np.empty(0, np.int64)


def adapted(
    frames: Frames,
    values: tuple[np.ndarray, np.ndarray],
    limits: tuple[np.ndarray, Ints],
    following: Callable[[Assignment], np.ndarray],
    snaps: Ints,
    open_position: int,
    *,
    absolute: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows round by round: the next one of every partition, then what their rows allow to those behind them.

    Args:
        frames: the rows, sorted by partition and arrival.
        values: of each row what is compared, and whether it is known.
        limits: of each group by how much the value may grow in its first window, and that window's index.
        following: windows -> by how much the value may grow in the window after each.
        snaps: positions of the batches after which to note what is held.
        open_position: the position that open windows have.
        absolute: whether a fall counts as well.

    Returns:
        windows: (group, index, lo, hi, batch that fired it, 0, 0), sorted; the open rest of each partition last;
        notes: (batch, group, index, 0, 0, lo, hi) and, beside, what is allowed then.
    """
    group, batch, (allowed, index) = frames.group, frames.batch, limits
    heads = np.flatnonzero(run_starts(group)) if len(group) else _NONE
    tails = np.append(heads[1:], len(group))[: len(heads)]
    start, may, number = heads.copy(), allowed[group[heads]].astype(np.float64), index[group[heads]].copy()
    rounds, active = [], np.arange(len(heads))
    while len(active):
        stop = _first_beyond(start[active], tails[active], *values, may[active], absolute)
        active, stop = active[stop >= 0], stop[stop >= 0]
        if len(active):
            before = may[active].copy()
            may[active] = following(_windows(group, start[active], stop))
            rounds.append(np.column_stack((active, number[active], start[active], stop, batch[stop])).astype(np.int64))
            rounds[-1] = np.column_stack((rounds[-1], before.view(np.int64), may[active].view(np.int64)))
            start[active], number[active] = stop, number[active] + 1
    closed = np.concatenate(rounds) if rounds else np.empty((0, 7), np.int64)
    closed = closed[np.lexsort((closed[:, 1], closed[:, 0]))]
    zeros = np.zeros(len(heads), np.int64)
    rest = np.column_stack((np.arange(len(heads)), number, start, tails, zeros + open_position, zeros, zeros))
    every = np.concatenate((closed, rest))
    every = every[np.lexsort((every[:, 1], every[:, 0]))]
    notes, bases = _notes(closed, heads, tails, batch, index[group[heads]], allowed[group[heads]], snaps)
    notes[:, 1], every[:, 0], every[:, 5:] = group[heads[notes[:, 1]]], group[heads[every[:, 0]]], 0
    return every, notes, bases


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _first_beyond(start, tail, value, known, may, absolute):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The first row of each partition that is farther from the oldest than allowed; -1: none."""
    out = np.full(len(start), -1, np.int64)
    for at in range(len(start)):
        oldest = start[at]
        for row in range(oldest + 1, tail[at]):
            rise = value[row] - value[oldest]
            if known[row] and known[oldest] and (rise > may[at] or (absolute and -rise > may[at])):
                out[at] = row
                break
    return out


def _windows(group: Ints, lo: Ints, hi: Ints) -> Assignment:
    """Windows over the rows between two."""
    window, within = repeated(np.arange(len(lo)), hi - lo)
    ends = np.cumsum(hi - lo)
    begins = ends - (hi - lo)
    return Assignment(lo[window] + within, window, group[lo], lo, hi, begins, begins, ends, _NONE, _NONE, np.zeros(len(group), np.int64))


def _notes(
    closed: np.ndarray, heads: Ints, tails: Ints, batch: Ints, index: Ints, allowed: np.ndarray, snaps: Ints
) -> tuple[np.ndarray, np.ndarray]:
    """What is held of each partition after some batches, and what is allowed there."""
    notes, bases = [], []
    own_from = np.searchsorted(closed[:, 0], np.arange(len(heads) + 1))
    for part, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist(), strict=True)):
        own = closed[own_from[part] : own_from[part + 1]]
        for snap in snaps.tolist():
            until = head + int(np.searchsorted(batch[head:tail], snap, side="right"))
            fired = int(np.searchsorted(own[:, 4], snap, side="right"))
            if until > head:
                lo = int(own[fired - 1, 3]) if fired else head
                notes.append((snap, part, int(index[part]) + fired, 0, 0, lo, until))
                bases.append(own[fired - 1, 6:7].copy().view(np.float64)[0] if fired else allowed[part])
    return np.array(notes, np.int64).reshape(-1, 7), np.array(bases, np.float64)
