"""History: the run of adjacent batches that windows are made of. Other batches wait until the missing
intervals are filled.

intervals   0  1  2  3  4  5  6        batches 0, 1, 2 and 5, 6 are accumulated
history     =  =  =                    the run that windows were published from
missing              3  4
waiting                    5  6

The work of a window: the batches that must be recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.schedule import Interval, Schedule
from muntin.states.frames import NO_INTS, Flags, Ints
from muntin.timeline.batches import Batches


@dataclass(frozen=True, slots=True, eq=False)
class Stops:
    """Places where work from batch to batch may end, since the open windows there may be as before.

    Attributes:
        changed: the positions of the batches that differ from the ledger, ascending.
        noted: the positions of the batches after which the ledger has a note, ascending.
        files: of the notes.
    """

    changed: Ints
    noted: Ints
    files: tuple[tuple[str, ...], ...]

    def note_after(self, position: int) -> tuple[str, ...] | None:
        """The files of the note that was made after a batch; None if there is none."""
        at = int(np.searchsorted(self.noted, position))
        return self.files[at] if at < len(self.noted) and self.noted[at] == position else None

    def without_note(self, files: tuple[str, ...]) -> Stops:
        """The stops as if the note in some files had never been written."""
        left = [at for at, others in enumerate(self.files) if others != files]
        return Stops(self.changed, self.noted[left], tuple(self.files[at] for at in left))


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The batches of one window that must be recomputed, and the states that they are computed from.

        batches              0    1    2    3    4    5    6
        positions                           3    4    5           their windows are derived anew
        since                               3              from this batch on, states of any time are read
        earlier batches      states in [low_us, high_us) alone    none where a note stands for them

    Attributes:
        positions: the batches whose windows are derived anew, ascending.
        low_us: states before it are read only where their batch is `since` or later.
        high_us: states at it or later belong to no window of the positions.
        since: see above.
        note: the files of a note with what was open before batch `since`; () where the work goes on from
            states alone.
        notes_after: the positions of the batches after which a note is made.
        stops: where the work may end before the last of the positions; None where it goes through all of
            them. See `timeline.parts`.
        shards: how many tasks make a note that can be compared with an earlier note; 0: as many as the rows
            are worth.
        counts: for each batch the last whose rows count in the windows that it closes; None: it is itself.
    """

    positions: Ints
    low_us: int
    high_us: int
    since: int = 0
    note: tuple[str, ...] = ()
    notes_after: tuple[int, ...] = ()
    stops: Stops | None = None
    shards: int = 0
    counts: Ints | None = None

    @property
    def last(self) -> int:
        """The last batch whose states are read; more than there are if all are."""
        at = int(self.positions[-1])
        return at if self.counts is None or at >= len(self.counts) else max(at, int(self.counts[at]))

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return len(self.positions) > 0


NOTHING = Work(NO_INTS, AFTER_ALL, AFTER_ALL)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The batches of windows, in order; waiting batches; and the missing intervals they wait for."""

    batches: Batches
    waiting: Batches
    missing: tuple[Interval, ...]


def history(batches: Batches, published: Ints, asked: Ints, schedule: Schedule) -> History:
    """Choose the run of adjacent batches that is the history.

    `batches`: every accumulated batch. `published`: starts of the batches that windows were published from,
    ascending: history keeps this run. `asked`: starts of the batches asked for: while nothing is published,
    history is the run that holds one of them. `schedule`: says which intervals are missing.
    """
    before = np.flatnonzero(batches.start_us[1:] != batches.end_us[:-1])
    borders = zip(batches.end_us[before].tolist(), batches.start_us[before + 1].tolist(), strict=True)
    missing = tuple(hole for end_us, start_us in borders for hole in schedule.intervals(end_us, start_us))
    run = np.append(0, np.cumsum(batches.start_us[1:] != batches.end_us[:-1]))[: len(batches)]
    chosen = _chosen(batches, run, published, np.sort(asked))
    begin, end = np.searchsorted(run, (chosen, chosen + 1)).tolist()
    waiting = Batches.joined([batches.take(slice(begin)), batches.take(slice(end, None))])
    return History(batches.take(slice(begin, end)), waiting, missing)


def _chosen(batches: Batches, run: Ints, published: Ints, asked: Ints) -> int:
    """The number of the run that is the history."""
    for starts in (published, asked):
        if len(positions := (at := batches.position(starts))[at >= 0]):
            return int(run[positions[0]])
    return 0


def first_retained(batches: Batches, kept_us: int) -> int:
    """The position of the first batch that ends less than `kept_us` before the end of the newest batch."""
    return (
        int(np.searchsorted(batches.end_us, batches.end_us[-1] - kept_us, side="right"))
        if len(batches)
        else 0
    )


def as_if_replaced(batches: Batches, position: int) -> Batches:
    """The batches, one of them with other states of any time, so that windows over it are derived anew."""
    version, low_us, high_us = batches.version.copy(), batches.low_us.copy(), batches.high_us.copy()
    version[position] ^= np.uint64(1)
    low_us[position] = BEFORE_ALL
    high_us[position] = max(int(high_us[position]), int(batches.end_us[position]))
    return replace(batches, version=version, low_us=low_us, high_us=high_us)


def expirable(batches: Batches, position: int, works: Iterable[Work]) -> Flags:
    """The batches before a position whose states none of the works reads."""
    gone = (np.arange(len(batches)) < position) & ~batches.expired
    for work in works:
        gone &= ~_read(batches, work)
    return gone


def missing_states(batches: Batches, work: Work) -> Ints:
    """The positions of the expired batches whose states a work reads."""
    return np.flatnonzero(batches.expired & (batches.rows > 0) & _read(batches, work)) if work else NO_INTS


def _read(batches: Batches, work: Work) -> Flags:
    """The batches whose states a work reads."""
    later = np.arange(len(batches)) >= work.since
    return later | reaching(batches, work.low_us, work.high_us)


def reaching(batches: Batches, low_us: int, high_us: int) -> Flags:
    """The batches with states whose frames reach into `[low_us, high_us)`."""
    return (batches.low_us < high_us) & (batches.high_us >= low_us)
