"""Windows that are handed from batch to batch: from the first changed batch on, they are derived anew.

batches     0    1    2    3    4    5
changed                         4            from batch 4 on windows are derived anew
notes            1                           the last note before it: the work goes on behind batch 1

Where a note behind the change says what it said before, so do all windows behind it: see `timeline.parts`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.states.frames import NO_INTS, Ints
from muntin.timeline.batches import Batches
from muntin.timeline.history import NOTHING, Stops, Work
from muntin.timeline.ledger import RECENT, Ledger

NOTES = 8  # about so many notes are made by a run over some batches, more by one over thousands


def carried_work(
    batches: Batches,
    watermarks_us: Ints,
    ledger: Ledger | None,
    *,
    flushes: bool,
    revised: Iterable[tuple[int, int]] = (),
) -> Work:
    """All batches from the first that differs from the ledger, and where the work may end.

    `batches`: the history. `watermarks_us`: the watermark after each batch. `ledger`: what was derived
    before; None if nothing. `flushes`: whether open windows gave results after the last batch. When another
    batch follows, they are taken back. `revised`: the first of the batches whose windows a batch revises, and
    this batch.
    """
    count = len(ledger.entries) if ledger else 0
    differs = _differs(batches, ledger)
    for first_revised, behind in revised:
        differs[first_revised:behind] = True
    if flushes and len(batches) > count > 0:
        differs[count - 1] = True
    first = int(np.argmax(differs)) if differs.any() else min(len(batches), count)
    if first == len(batches) == count:
        return NOTHING
    work = from_note(len(batches), ledger, np.arange(first, len(batches)), first)
    return replace(work, stops=_stops(differs, watermarks_us, ledger, first)) if ledger else work


def _differs(batches: Batches, ledger: Ledger | None) -> np.ndarray:
    """Whether each batch is other than the ledger says."""
    differs = np.ones(len(batches), np.bool_)
    if ledger is not None:
        shared = min(len(batches), len(ledger.entries))
        entries = ledger.entries
        differs[:shared] = (batches.start_us[:shared] != entries.start_us[:shared]) | (
            batches.version[:shared] != entries.version[:shared]
        )
    return differs


def _stops(differs: np.ndarray, watermarks_us: Ints, ledger: Ledger, first: int) -> Stops:
    """The batches behind the first changed batch; another watermark counts as a change."""
    entries = ledger.entries
    shared = min(len(differs), len(entries))
    moved = differs.copy()
    moved[:shared] |= watermarks_us[:shared] != entries.watermark_us[:shared]
    noted = entries.noted()
    noted = noted[(noted >= first) & (noted < len(differs))]
    return Stops(np.flatnonzero(moved), noted, tuple(entries.note_of(at) or () for at in noted.tolist()))


def from_note(count: int, ledger: Ledger | None, positions: Ints, before: int) -> Work:
    """The work for some positions of `count` batches, from the last note before batch `before`."""
    noted = ledger.entries.noted() if ledger else NO_INTS
    noted = noted[noted < before]
    since = int(noted[-1]) + 1 if len(noted) else 0
    note = ledger.entries.note_of(since - 1) or () if ledger and len(noted) else ()
    return Work(positions, AFTER_ALL, AFTER_ALL, since, note, notes_after(positions[positions < count]))


def notes_after(positions: Ints) -> tuple[int, ...]:
    """The last of some neighbouring positions, and some evenly among them: on multiples of a power of two, as
    old notes that stay.

    >>> notes_after(np.arange(3, 10))
    (3, 4, 5, 6, 7, 8, 9)
    >>> notes_after(np.arange(30, 100))
    (32, 40, 48, 56, 64, 72, 80, 88, 96, 99)
    """
    if not len(positions):
        return ()
    stride = min(RECENT**2, 1 << max(0, (len(positions) // NOTES).bit_length() - 1))
    return tuple(np.union1d(positions[positions % stride == 0], positions[-1:]).tolist())


LONGER = 4


def first_part(work: Work) -> Work:
    """The part of a work to begin with; all of it where it has no stops."""
    return _part(work, work.stops, int(work.positions[0]), 1) if work and work.stops else work


def part_behind(work: Work, part: Work, note: tuple[str, ...]) -> Work:
    """The part that follows.

    `work`: the whole of it. `part`: the last part that was done. `note`: the files of the note that was made
    after it.

    Returns nothing if all is done.
    """
    last, stops, least = int(part.positions[-1]), work.stops, LONGER * len(part.positions)
    if stops is None or last == work.positions[-1]:
        return NOTHING
    if note != stops.note_after(last):
        return _part(replace(work, since=last + 1, note=note), stops, last + 1, least)
    changed = stops.changed[stops.changed > last]
    if not len(changed):
        return NOTHING
    before = int(stops.noted[np.searchsorted(stops.noted, changed[0]) - 1])
    return _part(
        replace(work, since=before + 1, note=stops.note_after(before) or ()), stops, int(changed[0]), least
    )


def _part(work: Work, stops: Stops, first: int, least: int) -> Work:
    """The part from a batch on, over at least `least` batches, up to a note of the ledger or to the end."""
    ends = stops.noted[(stops.noted >= first + least - 1) & ~np.isin(stops.noted + 1, stops.changed)]
    last = int(ends[0]) if len(ends) else int(work.positions[-1])
    positions = np.arange(first, last + 1)
    return replace(
        work,
        positions=positions,
        notes_after=notes_after(positions),
        shards=len(stops.note_after(last) or ()),
    )
