"""Windows by arrival: from rows in order of arrival, and what was held before them, to ranges of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.engine.arrival.adaptive import adapt
from pipelines.engine.arrival.blocks import ranges
from pipelines.engine.arrival.grouped import bounded, grouped
from pipelines.engine.arrival.reading import arrived_rows
from pipelines.engine.arrival.sliding import slide
from pipelines.engine.arrival.tumbling import tumble
from pipelines.engine.assignment import Assignment

if TYPE_CHECKING:
    from pipelines.engine.arrival.rules import Rules
    from pipelines.states.frames import Frames

_NONE = np.empty(0, np.int64)


def arrived(rules: Rules, frames: Frames, batches: int) -> Assignment:
    """The windows of rows in order of arrival.

    Args:
        rules: when windows end, or fire.
        frames: the rows, sorted by partition and arrival; what was held before comes first.
        batches: how many there are; windows that are open have that position.
    """
    fire = slide if rules.trigger else adapt if rules.following else tumble
    found = fire(rules, frames)
    order, block, lo, mid, hi = ranges(frames.group, found)
    closed = np.minimum(found.closed, batches - 1) if rules.flush else found.closed
    missed, more = np.zeros(len(frames), np.int64), {"window_index": found.index}
    start, end = found.empty_start, found.empty_end
    windows = Assignment(order, block, found.group, start, end, lo, mid, hi, _NONE, _NONE, missed, closed, more, found.held)
    return bounded(grouped(windows, rules.groups, arrived_rows(frames)) if rules.groups else windows, frames)
