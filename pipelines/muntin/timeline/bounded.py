"""Windows that depend on events at most `reach_us` before their end: a change touches the windows over its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import BEFORE_ALL
from muntin.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from muntin.definition.kinds import Kind
    from muntin.states.frames import Ints
    from muntin.timeline.closing import Closing
    from muntin.timeline.compared import Compared, Span


def work(window: Kind, reach_us: int, width_us: int, when: Closing, compared: Compared, was: Kind) -> Work:
    """The batches that close a touched window, and the stretch of time whose states these windows hold.

    `was`: the kind as it was when windows were published, with the table of that time.
    """
    if compared.entries is None:
        positions = np.arange(len(compared.batches))
    else:
        positions = np.union1d(_touched(window, reach_us, when, compared), _elsewhere(window, was, when, compared))
    if not len(positions):
        return NOTHING
    first, last = int(positions[0]), int(positions[-1])
    low = window.earliest(int(when.floor[first]), int(when.floor[last + 1])) - width_us if first else BEFORE_ALL
    return Work(positions, low, int(when.floor[last + 1]) + window.inside_us, first)


def _touched(window: Kind, reach_us: int, when: Closing, compared: Compared) -> Ints:
    """The batches that changed or moved, and the batches that close a window over a changed frame; ascending."""
    spans = dict(compared.changed_lateness(when)) | dict(compared.changed_spans())
    floor, end = when.floor, len(when.watermarks_us)
    closing_batches = [_closing(window, reach_us, when, span, at, int(floor[at]), end) for at, span in spans.items()]
    return np.unique(np.concatenate([compared.moved, compared.changed, *closing_batches]))


def _elsewhere(window: Kind, was: Kind, when: Closing, compared: Compared) -> Ints:
    """The batches that close a window which lies elsewhere than it did, or that have states which came too late for one."""
    starts, ends = window.apart_from(was)
    if not len(ends):
        return starts
    closed, batches, floor = when.batch_of(ends), compared.batches, when.floor
    late = np.flatnonzero(batches.low_us < floor[:-1])
    spans = ((at, batches.low_us[at], batches.high_us[at], floor[at]) for at in late.tolist())
    missing = [at for at, low, high, closed_to in spans if np.any((starts <= high) & (ends > low) & (ends <= closed_to))]
    return np.union1d(closed[closed < len(batches)], np.array(missing, np.int64))


def _closing(window: Kind, reach_us: int, when: Closing, span: Span, at: int, floor_us: int, end: int) -> Ints:
    """The batches that close a window over these frames, if it was open when batch `at` came."""
    still_open = max(span[0], floor_us)
    if still_open > span[1] + reach_us:
        return np.empty(0, np.int64)
    found = window.batches_closing(when, still_open, span[1])
    return found[(found >= at) & (found < end)]
