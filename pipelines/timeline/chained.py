"""Windows whose neighbours decide where they begin: a change may reach on along a chain of open windows.

    changed frames    [low .. high]
    reach                     ......until        a window over a changed frame ends before `until`
    batches           first       quiet   stop   `quiet`: the first batch that closes all windows that end before `until`
    open windows                    ===== |      `stop`: the first batch from there on behind which no window is open that
                                                 began before `until`

The windows of the batches first..stop are derived anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import AFTER_ALL, BEFORE_ALL
from pipelines.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.closing import Closing
    from pipelines.timeline.compared import Compared

LONG_OPEN = 16  # a note is worth reading where a window has been open for more than so many margins


def work(margin_us: int, width_us: int, when: Closing, compared: Compared) -> Work:
    """The batches from the first change on, as far as open windows carry it; and the states to read for them."""
    positions = range(len(compared.batches)) if compared.entries is None else _touched(margin_us, width_us, when, compared)
    if not positions:
        return NOTHING
    if positions[0] == 0:
        return Work(tuple(positions), BEFORE_ALL, AFTER_ALL, notes_after=(positions[-1],))
    return _from_open(margin_us, width_us, positions, when, compared)


def _touched(margin_us: int, width_us: int, when: Closing, compared: Compared) -> range:
    """The batches whose windows a change may touch; all from the first change on where batches are new or have moved."""
    changed, moved, before = compared.changed(), compared.moved(), compared.before
    if not changed and not moved:
        return range(0)
    first, end = min([*changed, *moved]), len(compared.batches)
    if moved or any(batch.interval.start_us not in before for batch in compared.batches):
        return range(first, end)
    spans = [span for at in changed if (span := compared.span(at))]
    until = max((high + width_us + margin_us for _, high in spans), default=BEFORE_ALL)
    quiet = max(changed[-1], int(when.batch_of(np.array([until]))[0]))
    for stop in range(quiet, end):
        open_us = before[compared.batches[stop].interval.start_us].open_us
        if open_us is None or open_us > until:
            return range(first, stop + 1)
    return range(first, end)


def _from_open(margin_us: int, width_us: int, positions: Sequence[int], when: Closing, compared: Compared) -> Work:
    """The work for some batches, from the windows that were open before the first of them.

    Windows that have been open for long are read from the note, where one state stands for all old ones. That works only
    if no new state is older. Otherwise all states are read since the earliest start of an open window.
    """
    first, last = positions[0], positions[-1]
    entry = compared.before[compared.batches[first - 1].interval.start_us]
    lows = [batch.low_us for batch in compared.batches[first:] if batch.low_us is not None]
    long_open = entry.open_us is not None and entry.mark_us - entry.open_us > LONG_OPEN * margin_us
    if long_open and entry.note is not None and min(lows, default=AFTER_ALL) >= settled_us(margin_us, when, first):
        return Work(tuple(positions), AFTER_ALL, AFTER_ALL, first, tuple(entry.note), (last,))
    low = AFTER_ALL if entry.open_us is None else entry.open_us // width_us * width_us
    return Work(tuple(positions), low, AFTER_ALL, first, notes_after=(last,))


def settled_us(margin_us: int, when: Closing, position: int) -> int:
    """The instant before which only a late state of this batch can fall.

    The note made before the batch combines the states of a window before this instant to one.
    """
    return int(when.floor[position]) - margin_us
