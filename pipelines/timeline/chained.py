"""Windows whose neighbours decide where they begin: a change touches all windows until no open chain reaches back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import AFTER_ALL, BEFORE_ALL
from pipelines.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.closing import Closing
    from pipelines.timeline.compared import Compared

LONG_OPEN = 16  # gaps that a chain must be open for until a note of it is worth reading


def work(margin_us: int, width_us: int, when: Closing, found: Compared) -> Work:
    """The batches from the first change on, as far as an open chain may carry it, and what to go on from."""
    positions = range(len(found.batches)) if found.entries is None else _touched(margin_us, width_us, when, found)
    if not positions:
        return NOTHING
    if positions[0] == 0:
        return Work(tuple(positions), BEFORE_ALL, AFTER_ALL, snaps=(positions[-1],))
    return _from_open(margin_us, width_us, positions, when, found)


def _touched(margin_us: int, width_us: int, when: Closing, found: Compared) -> range:
    """From the first change on, until no chain left open reaches back to a changed frame."""
    changed, moved, before = found.changed(), found.moved(), found.before
    if not changed and not moved:
        return range(0)
    first, end = min([*changed, *moved]), len(found.batches)
    if moved or any(batch.interval.start_us not in before for batch in found.batches):
        return range(first, end)
    spans = [span for at in changed if (span := found.span(at))]
    until = max((high + width_us + margin_us for _, high in spans), default=BEFORE_ALL)
    quiet = max(changed[-1], int(when.batch_of(np.array([until]))[0]))
    for at in range(quiet, end):
        opened = before[found.batches[at].interval.start_us].open_us
        if opened is None or opened > until:
            return range(first, at + 1)
    return range(first, end)


def _from_open(margin_us: int, width_us: int, positions: Sequence[int], when: Closing, found: Compared) -> Work:
    """From what was open before the first of these batches.

    A chain that is open for long is read from the note, in which its settled states are one; all others from their states.
    """
    first, last = positions[0], positions[-1]
    entry = found.before[found.batches[first - 1].interval.start_us]
    lows = [batch.low_us for batch in found.batches[first:] if batch.low_us is not None]
    long_open = entry.open_us is not None and entry.mark_us - entry.open_us > LONG_OPEN * margin_us
    if long_open and entry.carry is not None and min(lows, default=AFTER_ALL) >= settled_us(margin_us, when, first):
        return Work(tuple(positions), AFTER_ALL, AFTER_ALL, first, tuple(entry.carry), (last,))
    low = AFTER_ALL if entry.open_us is None else entry.open_us // width_us * width_us
    return Work(tuple(positions), low, AFTER_ALL, first, snaps=(last,))


def settled_us(margin_us: int, when: Closing, position: int) -> int:
    """Only a late state can fall before this instant once a batch has come: the note made before it combines what is older."""
    return int(when.floor[position]) - margin_us
