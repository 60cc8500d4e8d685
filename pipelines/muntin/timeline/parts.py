"""Work that goes on from batch to batch is done part by part, and ends where nothing behind it can differ.

batches        0    1    2    3    4    5    6    7    8    9
changed                  2
ledger's notes      1              4              7
first part               2    3    4
                                   its note, made anew, is compared with the ledger's: equal content has an equal name
    the same                                           done; or on to the next changed batch
    another                             5    6    7    a second part, from the note made anew

A part is at least `LONGER` times as long as the part before it. So there are few parts where no note is the same again, as
where a batch has more rows than it had, and all windows behind it begin elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.timeline.carried import notes_after
from muntin.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from muntin.timeline.work import Stops

LONGER = 4


def first_part(work: Work) -> Work:
    """The part of a work to begin with; all of it where it has no stops."""
    return _part(work, work.stops, int(work.positions[0]), 1) if work and work.stops else work


def part_behind(work: Work, part: Work, note: tuple[str, ...]) -> Work:
    """The part that follows.

    Args:
        work: the whole of it.
        part: the last part that was done.
        note: the files of the note that was made after it.

    Returns:
        nothing if all is done.
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
    return _part(replace(work, since=before + 1, note=stops.note_after(before) or ()), stops, int(changed[0]), least)


def _part(work: Work, stops: Stops, first: int, least: int) -> Work:
    """The part from a batch on, over `least` batches or more, up to a note that the ledger has; else to the end."""
    ends = stops.noted[(stops.noted >= first + least - 1) & ~np.isin(stops.noted + 1, stops.changed)]
    last = int(ends[0]) if len(ends) else int(work.positions[-1])
    positions = np.arange(first, last + 1)
    return replace(work, positions=positions, notes_after=notes_after(positions), shards=len(stops.note_after(last) or ()))
