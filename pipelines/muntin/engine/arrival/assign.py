"""Windows by arrival: from rows in order of arrival, and what was held before them, to ranges of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.engine.arrival.adaptive import adapt
from muntin.engine.arrival.blocks import ranges
from muntin.engine.arrival.grouped import bounded, grouped
from muntin.engine.arrival.reading import arrived_rows
from muntin.engine.arrival.sliding import slide
from muntin.engine.arrival.tumbling import tumble
from muntin.engine.assignment import Assignment

if TYPE_CHECKING:
    from muntin.engine.arrival.fired import Fired
    from muntin.engine.arrival.rules import Rules
    from muntin.states.frames import Frames

_NONE = np.empty(0, np.int64)


def arrived(rules: Rules, frames: Frames, batches: int) -> Assignment:
    """The windows of rows in order of arrival.

    Args:
        rules: when windows end, or fire.
        frames: the rows, sorted by partition and arrival; what was held before comes first.
        batches: how many there are; windows that are open have that position.
    """
    fire = slide if rules.trigger else adapt if rules.following else tumble
    return assigned(fire(rules, frames), frames, batches, flush=rules.flush, groups=rules.groups)


def assigned(found: Fired, frames: Frames, batches: int, *, flush: bool, groups: tuple[tuple[str, str], ...] = ()) -> Assignment:
    """The assignment of windows that a kernel found.

    Args:
        found: the windows.
        frames, batches: as for `arrived`.
        flush: whether open windows are closed by the last batch.
        groups: result column -> column of the states, by whose values windows are cut.
    """
    order, block, lo, mid, hi = ranges(frames.group, found)
    closed = np.minimum(found.closed, batches - 1) if flush else found.closed
    missed, more = np.zeros(len(frames), np.int64), {"window_index": found.index}
    start, end = found.empty_start, found.empty_end
    windows = Assignment(order, block, found.group, start, end, lo, mid, hi, _NONE, _NONE, missed, closed, more, found.held)
    return bounded(grouped(windows, groups, arrived_rows(frames)) if groups else windows, frames)
