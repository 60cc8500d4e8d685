"""Windows that depend on events at most `reach_us` before their end: a change touches the windows over its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
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
    first, until_us = int(positions[0]), int(when.floor[positions[-1] + 1])
    return Work(positions, _first_read(window, width_us, int(when.floor[first]), until_us), until_us + window.inside_us, first)


def still_open(window: Kind, width_us: int, when: Closing, position: int) -> Work:
    """The states of all windows that were open when a batch came, whenever they end."""
    return Work(np.array([position]), _first_read(window, width_us, int(when.floor[position]), AFTER_ALL), AFTER_ALL, position)


def _first_read(window: Kind, width_us: int, after_us: int, until_us: int) -> int:
    """The start, or less, of the first frame that windows hold which end in a stretch; `AFTER_ALL`, about, if no window ends there."""
    return window.earliest(after_us, until_us) - width_us + 1 if after_us > BEFORE_ALL else BEFORE_ALL


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
