"""Windows that are handed from batch to batch: from the first changed batch on, all of them are derived anew.

batches     0    1    2    3    4    5
changed                         4            everything from batch 4 on is derived anew
notes            1                           the last note before it: the work goes on behind batch 1, reading from 2 on
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.definition.instants import AFTER_ALL
from pipelines.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Ledger

NOTES = 8  # about so many notes are made by a run over many batches


def work(batches: Sequence[Batch], ledger: Ledger | None, *, flushes: bool) -> Work:
    """All batches from the first one on that differs from the ledger.

    Args:
        batches: the history.
        ledger: what was derived before; None if nothing.
        flushes: whether open windows gave results after the last batch. These are taken back when another batch follows.
    """
    same, entries = _unchanged(batches, ledger), ledger.entries if ledger else ()
    if same == len(batches) == len(entries):
        return NOTHING
    if flushes and same == len(entries):
        same = max(0, same - 1)
    return from_note(batches, ledger, tuple(range(same, len(batches))), same)


def _unchanged(batches: Sequence[Batch], ledger: Ledger | None) -> int:
    """The number of batches, from the first one on, that are as the ledger says."""
    entries = ledger.entries if ledger else ()
    pairs = zip(batches, entries, strict=False)
    return next(
        (at for at, (batch, entry) in enumerate(pairs) if (batch.interval.start_us, batch.version) != (entry.start_us, entry.version)),
        min(len(batches), len(entries)),
    )


def from_note(batches: Sequence[Batch], ledger: Ledger | None, positions: tuple[int, ...], before: int) -> Work:
    """The work for some positions, from the last note that was made before batch `before`."""
    noted = [at for at, entry in enumerate(ledger.entries[:before]) if entry.note is not None] if ledger else []
    since = noted[-1] + 1 if noted else 0
    note = tuple(ledger.entries[noted[-1]].note or ()) if ledger and noted else ()
    return Work(positions, AFTER_ALL, AFTER_ALL, since, note, _notes_after([at for at in positions if at < len(batches)]))


def _notes_after(positions: Sequence[int]) -> tuple[int, ...]:
    """The last position, and some evenly before it."""
    stride = max(1, len(positions) // NOTES)
    return tuple(sorted(positions[::-1][::stride]))
