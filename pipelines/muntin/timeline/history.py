"""History: the run of adjacent batches that windows are made of. Other batches wait until the missing intervals are filled.

intervals   0  1  2  3  4  5  6        batches 0, 1, 2 and 5, 6 are accumulated
history     =  =  =                    the run that windows were published from
missing              3  4
waiting                    5  6
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muntin.timeline.batches import Batches, empty_batches

if TYPE_CHECKING:
    from muntin.definition.schedule import Interval, Schedule
    from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The batches that windows are made of, in order; the batches that wait; and the missing intervals they wait for."""

    batches: Batches
    waiting: Batches
    missing: tuple[Interval, ...]


def history(batches: Batches, published: Ints, asked: Ints, schedule: Schedule, *, fill: bool = False) -> History:
    """Choose the run of adjacent batches that is the history.

    Args:
        batches: every accumulated batch.
        published: starts of the batches that windows were published from, ascending: history keeps this run.
        asked: starts of the batches asked for: while nothing is published, history is the run that holds one of them.
        schedule: tells which intervals are missing.
        fill: whether a missing interval between two batches is an empty batch.
    """
    missing = _missing(batches, schedule)
    if fill and missing:
        holes = np.array([(hole.start_us, hole.end_us) for hole in missing], np.int64)
        batches, missing = Batches.joined([batches, empty_batches(holes[:, 0], holes[:, 1])]), ()
    run = np.append(0, np.cumsum(batches.start_us[1:] != batches.end_us[:-1]))[: len(batches)]
    chosen = _chosen(batches, run, published, np.sort(asked))
    begin, end = np.searchsorted(run, (chosen, chosen + 1)).tolist()
    waiting = Batches.joined([batches.take(slice(begin)), batches.take(slice(end, None))])
    return History(batches.take(slice(begin, end)), waiting, missing)


def _chosen(batches: Batches, run: Ints, published: Ints, asked: Ints) -> int:
    """The number of the run that is the history."""
    for starts in (published, asked):
        if len(known := (at := batches.position(starts))[at >= 0]):
            return int(run[known[0]])
    return 0


def _missing(batches: Batches, schedule: Schedule) -> tuple[Interval, ...]:
    """The intervals between neighbours that do not touch."""
    before = np.flatnonzero(batches.start_us[1:] != batches.end_us[:-1])
    borders = zip(batches.end_us[before].tolist(), batches.start_us[before + 1].tolist(), strict=True)
    return tuple(hole for end_us, start_us in borders for hole in schedule.intervals(end_us, start_us))
