"""Windows whose neighbours decide where they begin: a change may reach on along a chain of open windows.

    changed frames    [low .. high]
    reach                     ......until        a window over a changed frame ends before `until`
    batches           first       quiet   stop   `quiet`: the first batch that closes all windows that end before `until`
    open windows                    ===== |      `stop`: the first batch from there on behind which no window is open that
                                                 began before `until`

The windows of the batches first..stop are derived anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from muntin.states.frames import Ints
    from muntin.timeline.closing import Closing
    from muntin.timeline.compared import Compared
    from muntin.timeline.ledger import Entries

LONG_OPEN = 16  # a note is worth reading where a window has been open for more than so many margins


def work(margin_us: int, width_us: int, when: Closing, compared: Compared) -> Work:
    """The batches from the first change on, as far as open windows carry it; and the states to read for them."""
    positions = np.arange(len(compared.batches)) if compared.entries is None else np.arange(*_touched(margin_us, width_us, when, compared))
    if not len(positions):
        return NOTHING
    if positions[0] == 0:
        return Work(positions, BEFORE_ALL, AFTER_ALL, notes_after=(int(positions[-1]),))
    return _from_open(margin_us, width_us, positions, when, compared)


def _touched(margin_us: int, width_us: int, when: Closing, compared: Compared) -> tuple[int, int]:
    """The stretch of batches whose windows a change may touch; all from the first change on where batches are new or have moved."""
    changed, moved, end = compared.changed, compared.moved, len(compared.batches)
    if compared.entries is None or not len(changed) + len(moved):
        return 0, 0
    first = int(min([*changed[:1], *moved[:1]]))
    if len(moved) or (compared.entry < 0).any():
        return first, end
    until = max((high + width_us + margin_us for _, (_, high) in compared.changed_spans()), default=BEFORE_ALL)
    quiet = max(int(changed[-1]), int(when.batch_of(np.array([until]))[0]))
    closed = compared.entries.open_us[compared.entry[quiet:]] > until
    return first, quiet + int(np.argmax(closed)) + 1 if closed.any() else end


def _from_open(margin_us: int, width_us: int, positions: Ints, when: Closing, compared: Compared) -> Work:
    """The work for some batches, from the windows that were open before the first of them.

    Windows that have been open for long are read from the note, where one state stands for all old ones. That works only
    if no new state is older. Otherwise all states are read since the earliest start of an open window.
    """
    first, last, at = int(positions[0]), int(positions[-1]), int(compared.entry[positions[0] - 1])
    entries = cast("Entries", compared.entries)
    open_us, note, lowest = int(entries.open_us[at]), entries.note_of(at), int(compared.batches.low_us[first:].min(initial=AFTER_ALL))
    long_open = open_us < AFTER_ALL and int(entries.watermark_us[at]) - open_us > LONG_OPEN * margin_us
    if long_open and note is not None and lowest >= settled_us(margin_us, when, first):
        return Work(positions, AFTER_ALL, AFTER_ALL, first, note, (last,))
    low = AFTER_ALL if open_us == AFTER_ALL else open_us // width_us * width_us
    return Work(positions, low, AFTER_ALL, first, notes_after=(last,))


def settled_us(margin_us: int, when: Closing, position: int) -> int:
    """The instant before which only a late state of this batch can fall.

    The note made before the batch combines the states of a window before this instant to one.
    """
    return int(when.floor[position]) - margin_us
