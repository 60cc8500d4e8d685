"""The history compared with the ledger: batches that changed or moved, and states whose lateness changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.states.frames import Ints, stretch
from muntin.timeline.batches import Batches
from muntin.timeline.closing import Closing
from muntin.timeline.ledger import Entries

Span = tuple[int, int]  # the starts of a first and of a last frame


@dataclass(frozen=True, eq=False)
class Compared:
    """The history, its watermarks, and the ledger's entries; None if nothing was derived before."""

    batches: Batches
    watermarks_us: Ints
    entries: Entries | None

    @cached_property
    def entry(self) -> Ints:
        """The number of each batch's entry; -1 where the batch is new."""
        return (
            np.full(len(self.batches), -1)
            if self.entries is None
            else self.entries.position(self.batches.start_us)
        )

    @cached_property
    def _old_batches(self) -> tuple[Ints | slice, Ints | slice]:
        """Positions of the batches that are not new, and the numbers of their entries: mostly a stretch."""
        at = np.flatnonzero(self.entry >= 0)
        return stretch(at), stretch(self.entry[at])

    @cached_property
    def changed(self) -> Ints:
        """Positions of the batches that are new or whose states changed, ascending."""
        if self.entries is None:
            return np.arange(len(self.batches))
        same = self.entry >= 0
        at, entry = self._old_batches
        same[at] = self.entries.version[entry] == self.batches.version[at]
        return np.flatnonzero(~same)

    @cached_property
    def moved(self) -> Ints:
        """Positions of old batches that close another stretch of time: a watermark differs."""
        if self.entries is None:
            return np.empty(0, np.int64)
        at, entry = self._old_batches
        then, now = (
            np.append(BEFORE_ALL, watermarks_us)
            for watermarks_us in (self.entries.watermark_us, self.watermarks_us)
        )
        before, after = then[:-1][entry] != now[:-1][at], then[1:][entry] != now[1:][at]
        return np.arange(len(self.batches))[at][before | after]

    def changed_spans(self) -> list[tuple[int, Span]]:
        """Position of each changed batch that has or had states, and their frames."""
        return _held(self.changed, *self._span(self.changed))

    def changed_lateness(self, when: Closing) -> list[tuple[int, Span]]:
        """Batches with states that are late now and were not, or were late and are not, and the frames of
        such states.

        The windows may hold the same states. But a late state is combined after the other states, and floats
        depend on the order.
        """
        if self.entries is None:
            return []
        positions, entry = self._old_batches
        before, now = (
            Closing(self.entries.watermark_us, when.slack).floor[:-1][entry],
            when.floor[:-1][positions],
        )
        other = before != now  # seldom: the spans of other batches are not compared
        at, later = np.arange(len(self.batches))[positions][other], np.maximum(before[other], now[other])
        low, high = self._span(at)
        late = low < later
        return _held(at[late], low[late], np.minimum(high, later)[late])

    def _span(self, at: Ints) -> tuple[Ints, Ints]:
        """First and last frame of old and new states of batches; `AFTER_ALL`, `BEFORE_ALL` without states."""
        low, high, entry = self.batches.low_us[at], self.batches.high_us[at], self.entry[at]
        if self.entries is None or not len(self.entries):
            return low, high
        is_old = entry >= 0
        was_low, was_high = (
            np.where(is_old, self.entries.low_us[entry], AFTER_ALL),
            np.where(is_old, self.entries.high_us[entry], BEFORE_ALL),
        )
        return np.minimum(low, was_low), np.maximum(high, was_high)


def _held(at: Ints, low: Ints, high: Ints) -> list[tuple[int, Span]]:
    """Positions with their stretches, without stretches that hold nothing."""
    there = low <= high
    return [
        (place, (first, last))
        for place, first, last in zip(*(column[there].tolist() for column in (at, low, high)), strict=True)
    ]
