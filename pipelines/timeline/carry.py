"""Windows that are carried over go on from what was open after an earlier batch: the last note before the first change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.timeline.work import FOREVER, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Ledger
    from pipelines.windows.kind import Window

NOTES = 8  # how many notes a run over many batches leaves behind


def carried_on(window: Window, batches: Sequence[Batch], ledger: Ledger | None) -> Work:
    """From the first batch on that is another one than when windows were derived last, everything."""
    same = unchanged(batches, ledger)
    entries = ledger.entries if ledger else ()
    if same == len(batches) == len(entries):
        return Work((), FOREVER, FOREVER)
    if window.flushes and same == len(entries):
        same = max(0, same - 1)  # the rest that its last batch gave is no rest any more
    return from_note(batches, ledger, tuple(range(same, len(batches))), same)


def unchanged(batches: Sequence[Batch], ledger: Ledger | None) -> int:
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
    return Work(positions, FOREVER, FOREVER, since, carry, _snaps([at for at in positions if at < len(batches)]))


def _snaps(positions: Sequence[int]) -> tuple[int, ...]:
    """The last position, and some evenly before it."""
    stride = max(1, len(positions) // NOTES)
    return tuple(sorted(positions[::-1][::stride]))
