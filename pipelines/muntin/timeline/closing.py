"""Watermark and closing: how far time is known after each batch, and which batch closes a window.

batches         0      1      2      3
watermark      10     20     30     40
floor     -inf   10-s   20-s   30-s   40-s     W(n - 1) - slack: windows that end by then were closed before batch n
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL

if TYPE_CHECKING:
    from muntin.definition.kinds import Kind
    from muntin.definition.watermark import Watermarking
    from muntin.states.frames import Ints
    from muntin.timeline.batches import Batches


def watermarks(batches: Batches, watermarking: Watermarking) -> Ints:
    """W(n) after each batch, in microseconds: its interval's end, or the largest event time so far. Never moves back.

    Of several sources it is the least of their largest event times so far. A source is idle where that is further than `idle_us` behind
    the end of the batch. Idle sources do not count; if all are idle, the largest event time of all counts.
    """
    if not len(batches):
        return batches.end_us
    known = batches.end_us if watermarking.policy == "interval" else batches.newest_us
    if watermarking.policy == "events" and watermarking.sources > 1:
        known = _least_of_sources(batches, watermarking)
    return np.maximum.accumulate(known)


def _least_of_sources(batches: Batches, watermarking: Watermarking) -> Ints:
    known = np.maximum.accumulate([batches.newest_of(number) for number in range(watermarking.sources)], axis=1)
    if watermarking.idle_us is None:
        return known.min(axis=0)
    active = known >= batches.end_us - watermarking.idle_us
    return np.where(active.any(axis=0), np.where(active, known, AFTER_ALL).min(axis=0), known.max(axis=0))


@dataclass(frozen=True)
class Closing:
    """The rule by which the windows of one definition close.

    Attributes:
        watermarks_us: W(n) of each batch.
        slack: how far W must be beyond a window's end, microseconds.
    """

    watermarks_us: Ints
    slack: int

    @cached_property
    def floor(self) -> Ints:
        """For batch b, and one past the last: windows that end at or before this instant were closed before b came."""
        before = np.append(BEFORE_ALL, np.maximum(self.watermarks_us, BEFORE_ALL + self.slack))
        return np.where(before <= BEFORE_ALL + self.slack, BEFORE_ALL, before - self.slack)

    def batch_of(self, ends: Ints) -> Ints:
        """The position of the batch that closes a window of this end; `len(watermarks_us)` while it is open."""
        return np.searchsorted(self.watermarks_us, ends + self.slack, side="left")


def closing(window: Kind, watermarks_us: Ints) -> Closing:
    """The closing of a window's definition. Slack is the grace, and more where the end itself belongs to the window."""
    return Closing(watermarks_us, window.grace_us + window.inside_us)
