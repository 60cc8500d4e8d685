"""History: the run of adjacent batches that windows are made of. Other batches wait until the missing intervals are filled.

intervals   0  1  2  3  4  5  6        batches 0, 1, 2 and 5, 6 are accumulated
history     =  =  =                    the run that windows were published from
missing              3  4
waiting                    5  6
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.definition.schedule import Interval, Schedule


@dataclass(frozen=True, slots=True)
class Batch:
    """An accumulated batch, as its files tell.

    Attributes:
        interval: the data interval.
        version: a name of the states' content: equal content, equal version.
        newest_us: the largest event time of its rows, also of rows that `where` leaves out; None without rows.
        low_us, high_us: starts of its first and of its last frame; None without states.
        rows: the number of states.
    """

    interval: Interval
    version: str
    newest_us: int | None = None
    low_us: int | None = None
    high_us: int | None = None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class History:
    """The batches that windows are made of, in order; the batches that wait; and the missing intervals they wait for."""

    batches: tuple[Batch, ...]
    waiting: tuple[Batch, ...]
    missing: tuple[Interval, ...]

    def position(self) -> dict[int, int]:
        """Start of a batch -> its place in the history."""
        return {batch.interval.start_us: at for at, batch in enumerate(self.batches)}


def history(batches: Sequence[Batch], published: Iterable[int], asked: Iterable[int], schedule: Schedule, *, fill: bool = False) -> History:
    """Choose the run of adjacent batches that is the history.

    Args:
        batches: every accumulated batch, sorted.
        published: starts of the batches that windows were published from: history keeps this run.
        asked: starts of the batches asked for: while nothing is published, history is the run that holds one of them.
        schedule: tells which intervals are missing.
        fill: whether a missing interval between two batches is an empty batch.
    """
    if fill:
        batches = _filled(batches, schedule)
    runs = _runs(batches)
    chosen = _holding(runs, set(published)) or _holding(runs, set(asked)) or (runs[0] if runs else [])
    waiting = tuple(batch for run in runs if run is not chosen for batch in run)
    missing = [hole for before, after in pairwise(runs) for hole in _between(before[-1], after[0], schedule)]
    return History(tuple(chosen), waiting, tuple(missing))


def _runs(batches: Sequence[Batch]) -> list[list[Batch]]:
    runs: list[list[Batch]] = []
    for batch in batches:
        if runs and runs[-1][-1].interval.end_us == batch.interval.start_us:
            runs[-1].append(batch)
        else:
            runs.append([batch])
    return runs


def _holding(runs: list[list[Batch]], starts: set[int]) -> list[Batch] | None:
    return next((run for run in runs if any(batch.interval.start_us in starts for batch in run)), None)


def _between(before: Batch, after: Batch, schedule: Schedule) -> list[Interval]:
    return schedule.intervals(before.interval.end_us, after.interval.start_us)


def _filled(batches: Sequence[Batch], schedule: Schedule) -> list[Batch]:
    holes = [Batch(hole, "gap") for before, after in pairwise(batches) for hole in _between(before, after, schedule)]
    return sorted([*batches, *holes], key=lambda batch: batch.interval)
