"""Windows that are handed from batch to batch: derived anew from the first changed batch on, from the last note before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.definition.instants import AFTER_ALL
from pipelines.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Ledger

NOTES = 8  # how many notes a run over many batches leaves behind


def work(batches: Sequence[Batch], ledger: Ledger | None, *, flushes: bool) -> Work:
    """From the first batch on that is another one than when windows were derived last, everything.

    Args:
        batches: the history.
        ledger: what was derived before; None if nothing.
        flushes: whether what was open after the last batch gave a result, which is taken back when another batch follows.
    """
    same, entries = _unchanged(batches, ledger), ledger.entries if ledger else ()
    if same == len(batches) == len(entries):
        return NOTHING
    if flushes and same == len(entries):
        same = max(0, same - 1)
    return from_note(batches, ledger, tuple(range(same, len(batches))), same)


def _unchanged(batches: Sequence[Batch], ledger: Ledger | None) -> int:
    """How many batches, from the first on, are what they were."""
    entries = ledger.entries if ledger else ()
    pairs = zip(batches, entries, strict=False)
    return next(
        (at for at, (batch, entry) in enumerate(pairs) if (batch.interval.start_us, batch.version) != (entry.start_us, entry.version)),
        min(len(batches), len(entries)),
    )


def from_note(batches: Sequence[Batch], ledger: Ledger | None, positions: tuple[int, ...], before: int) -> Work:
    """The work for some positions, from the last note that was made before one of them."""
    noted = [at for at, entry in enumerate(ledger.entries[:before]) if entry.carry is not None] if ledger else []
    since = noted[-1] + 1 if noted else 0
    carry = tuple(ledger.entries[noted[-1]].carry or ()) if ledger and noted else ()
    return Work(positions, AFTER_ALL, AFTER_ALL, since, carry, _snaps([at for at in positions if at < len(batches)]))


def _snaps(positions: Sequence[int]) -> tuple[int, ...]:
    """The last position, and some evenly before it."""
    stride = max(1, len(positions) // NOTES)
    return tuple(sorted(positions[::-1][::stride]))
