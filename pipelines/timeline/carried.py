"""Windows that are handed from batch to batch: from the first changed batch on, all of them are derived anew.

batches     0    1    2    3    4    5
changed                         4            everything from batch 4 on is derived anew
notes            1                           the last note before it: the work goes on behind batch 1, reading from 2 on
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import AFTER_ALL
from pipelines.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from pipelines.states.frames import Ints
    from pipelines.timeline.batches import Batches
    from pipelines.timeline.ledger import Ledger

NOTES = 8  # about so many notes are made by a run over many batches


def work(batches: Batches, ledger: Ledger | None, *, flushes: bool) -> Work:
    """All batches from the first one on that differs from the ledger.

    Args:
        batches: the history.
        ledger: what was derived before; None if nothing.
        flushes: whether open windows gave results after the last batch. These are taken back when another batch follows.
    """
    same, count = _unchanged(batches, ledger), len(ledger.entries) if ledger else 0
    if same == len(batches) == count:
        return NOTHING
    if flushes and same == count:
        same = max(0, same - 1)
    return from_note(len(batches), ledger, np.arange(same, len(batches)), same)


def _unchanged(batches: Batches, ledger: Ledger | None) -> int:
    """The number of batches, from the first one on, that are as the ledger says."""
    if ledger is None:
        return 0
    shared, known = min(len(batches), len(ledger.entries)), ledger.entries
    differs = (batches.start_us[:shared] != known.start_us[:shared]) | (batches.version[:shared] != known.version[:shared])
    return int(np.argmax(differs)) if differs.any() else shared


def from_note(count: int, ledger: Ledger | None, positions: Ints, before: int) -> Work:
    """The work for some positions of `count` batches, from the last note that was made before batch `before`."""
    noted = ledger.entries.noted() if ledger else np.empty(0, np.int64)
    noted = noted[noted < before]
    since = int(noted[-1]) + 1 if len(noted) else 0
    note = ledger.entries.note_of(since - 1) or () if ledger and len(noted) else ()
    return Work(positions, AFTER_ALL, AFTER_ALL, since, note, _notes_after(positions[positions < count].tolist()))


def _notes_after(positions: list[int]) -> tuple[int, ...]:
    """The last position, and some evenly before it."""
    stride = max(1, len(positions) // NOTES)
    return tuple(sorted(positions[::-1][::stride]))
