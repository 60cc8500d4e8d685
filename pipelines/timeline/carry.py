"""Windows that are carried over go on from what was open after an earlier batch: the last note before the first change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.timeline.work import FOREVER, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.closing import Closing
    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Entry, Ledger
    from pipelines.windows.kind import Window

LONG_OPEN = 16  # gaps that a chain must be open for until a note of it is worth reading
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


def from_open(window: Window, width_us: int, positions: Sequence[int], when: Closing, entry: Entry, batches: Sequence[Batch]) -> Work:
    """The work for chains: from the start of the earliest open one; or, where that is long ago, from the note of what is settled.

    Args:
        window, width_us: the definition, and the width of its frames.
        positions: the batches whose windows are derived anew.
        when: the closing.
        entry: of the batch before the first of them.
        batches: the history.
    """
    first, last = positions[0], positions[-1]
    lows = [batch.low_us for batch in batches[first:] if batch.low_us is not None]
    long_open = entry.open_us is not None and entry.mark_us - entry.open_us > LONG_OPEN * window.margin_us
    if long_open and entry.carry is not None and min(lows, default=FOREVER) >= settled_us(window, when, first):
        return Work(tuple(positions), FOREVER, FOREVER, first, tuple(entry.carry), (last,))
    low = FOREVER if entry.open_us is None else entry.open_us // width_us * width_us
    return Work(tuple(positions), low, FOREVER, first, snaps=(last,))


def settled_us(window: Window, when: Closing, position: int) -> int:
    """Before this instant states of open chains are combined in the note made before a batch: none comes there but very late."""
    return int(when.floor[position]) - window.margin_us


def _snaps(positions: Sequence[int]) -> tuple[int, ...]:
    """The last position, and some evenly before it."""
    stride = max(1, len(positions) // NOTES)
    return tuple(sorted(positions[::-1][::stride]))
