"""Watermark and closing: how far time is known after each batch, and which batch closes a window.

batches         0      1      2      3
watermark      10     20     30     40
floor     -inf   10-s   20-s   30-s   40-s     W(n - 1) - slack: windows up to here were closed before n
final    -inf                                  less the lateness: rows of n count in no window up to here

The history compared with the ledger: batches that changed or moved, and states whose lateness changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Kind
from muntin.definition.several_sources import Watermarking
from muntin.states.frames import NO_INTS, Ints, stretch
from muntin.timeline.batches import Batches
from muntin.timeline.ledger import Entries


def watermarks(batches: Batches, watermarking: Watermarking) -> Ints:
    """W(n) after each batch, in microseconds: its interval's end, or the largest event time so far. Never
    moves back.

    Of several sources it is the least of their largest event times so far. A source is idle where that is
    further than `idle_us` behind the end of the batch. Idle sources do not count; if all are idle, the
    largest event time of all counts.
    """
    if not len(batches):
        return batches.end_us
    time_us = batches.end_us if watermarking.policy == "interval" else batches.newest_us
    if watermarking.policy == "events" and watermarking.sources > 1:
        time_us = _least_of_sources(batches, watermarking)
    return np.maximum.accumulate(time_us)


def _least_of_sources(batches: Batches, watermarking: Watermarking) -> Ints:
    newest_us = np.maximum.accumulate(
        [batches.newest_of(number) for number in range(watermarking.sources)], axis=1
    )
    if watermarking.idle_us is None:
        return newest_us.min(axis=0)
    active = newest_us >= batches.end_us - watermarking.idle_us
    return np.where(
        active.any(axis=0), np.where(active, newest_us, AFTER_ALL).min(axis=0), newest_us.max(axis=0)
    )


@dataclass(frozen=True)
class Closing:
    """The rule by which the windows of one definition close.

    Attributes:
        watermarks_us: W(n) of each batch.
        slack: how far W must be beyond a window's end, microseconds.
        lateness_us: for how long after its closing rows that come revise a window.
    """

    watermarks_us: Ints
    slack: int
    lateness_us: int = 0

    @cached_property
    def floor(self) -> Ints:
        """For batch b, and one past the last: windows that ended by then were closed before b came."""
        return self._less(self.slack)

    @cached_property
    def final(self) -> Ints:
        """For batch b, and one past the last: rows of b are too late for windows that ended by then."""
        return self._less(self.slack + self.lateness_us) if self.lateness_us else self.floor

    def _less(self, slack: int) -> Ints:
        before = np.append(BEFORE_ALL, np.maximum(self.watermarks_us, BEFORE_ALL + slack))
        return np.where(before <= BEFORE_ALL + slack, BEFORE_ALL, before - slack)

    def batch_of(self, ends: Ints) -> Ints:
        """The batch that closes a window of this end; `len(watermarks_us)` while it is open."""
        return np.searchsorted(self.watermarks_us, ends + self.slack, side="left")

    def final_of(self, ends: Ints) -> Ints:
        """The last batch whose rows count in a window of this end; `len(watermarks_us)` if later rows may."""
        return self.batch_of(ends + self.lateness_us)

    @property
    def counts(self) -> Ints | None:
        """For each batch the last whose rows count in the windows that it closes; None: it is itself."""
        if not self.lateness_us:
            return None
        return np.searchsorted(self.watermarks_us, self.watermarks_us + self.lateness_us)

    def first_revised(self, batches: Ints, low_us: Ints, final_us: Ints) -> Ints:
        """For each batch the first whose windows its rows may revise; the batch itself if none.

        `low_us`: an instant before its rows. `final_us`: windows that end by then are final before it.
        """
        if not self.lateness_us:
            return batches
        until_us = np.maximum(low_us, final_us + 1 + self.slack)
        return np.minimum(batches, np.searchsorted(self.watermarks_us, until_us))


def closing(window: Kind, watermarks_us: Ints) -> Closing:
    """How a kind's windows close. Slack is the grace, and more where the end belongs to the window."""
    return Closing(watermarks_us, window.grace_us + window.inside_us, window.lateness_us)


_APART = (
    4  # by how many reaches of a kind two ends of its windows lie apart at most: business days by three days
)
Knowledge = Literal["closed", "ended"]


@dataclass(frozen=True, slots=True, eq=False)
class Publications:
    """The published batches as they were known from instant to instant.

    Attributes:
        start_us, end_us: of their intervals, ascending and adjacent; microseconds.
        closing: the rule by which they close windows.
        knowledge: "closed": a batch is known from the end of its interval on; "ended": all are known at any
            time, as of today.
        low_us: an instant before the first state of each, by which windows end that none of its rows revises.
    """

    start_us: Ints
    end_us: Ints
    closing: Closing
    knowledge: Knowledge
    low_us: Ints

    def closed_to(self, position: Ints) -> Ints:
        """The instant up to which windows were closed after a batch; before all time for -1."""
        return self.closing.floor[position + 1]

    def settled_to(self, position: Ints) -> Ints:
        """The instant up to which windows were, after a batch, as they are now."""
        if not self.closing.lateness_us or self.knowledge == "ended":
            return self.closed_to(position)
        later_us = np.minimum.accumulate(np.append(self.low_us, AFTER_ALL)[::-1])[::-1]
        settled_us = np.maximum(self.closing.final, later_us)
        return np.minimum(self.closing.floor, settled_us)[position + 1]  # type: ignore[no-any-return]

    def known_us(self, batch_us: Ints, end_us: Ints) -> Ints:
        """When windows were published as they are: none before its own end. `batch_us`: starts of their
        batches.
        """
        if self.knowledge == "ended" or not len(self.end_us):
            return end_us
        settled = np.searchsorted(self.settled_to(np.arange(len(self.end_us))), end_us)
        at = np.maximum(np.searchsorted(self.start_us, batch_us), settled if self.closing.lateness_us else 0)
        return np.maximum(end_us, self.end_us[np.minimum(at, len(self.end_us) - 1)])


def last_before(ends_us: Ints, at_us: Ints, knowledge: Knowledge) -> Ints:
    """The last batch that was known at each instant, by the ends of the batches; -1 where none was.

    >>> last_before(np.array([10, 20]), np.array([9, 10, 25]), "closed").tolist()
    [-1, 0, 1]
    """
    if knowledge == "ended":
        return np.full(len(at_us), len(ends_us) - 1)
    return np.searchsorted(ends_us, at_us, side="right") - 1


def last_ended(kind: Kind, at_us: Ints) -> tuple[Ints, Ints]:
    """Start and end of the window of a grid that ended last by each instant. No two windows end together."""
    if kind.even is not None:
        end = (at_us - kind.even.align_us) // kind.even.step_us * kind.even.step_us + kind.even.align_us
        return end - kind.even.size_us, end
    starts, ends = _windows_over(kind, int(at_us.min()), int(at_us.max())) if len(at_us) else (at_us, at_us)
    at = np.searchsorted(ends, at_us, side="right") - 1
    return starts[at], ends[at]


def _windows_over(kind: Kind, low_us: int, high_us: int) -> tuple[Ints, Ints]:
    """The windows of a grid, by their ends: from a window on that ended by the first instant."""
    starts, ends = kind.grid(low_us - _APART * kind.follows.reach_us, high_us + 1)  # type: ignore[misc, union-attr]
    order = np.argsort(ends, kind="stable")
    return starts[order], ends[order]


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
            return NO_INTS
        at, entry = self._old_batches
        then, now = (
            np.append(BEFORE_ALL, watermarks_us)
            for watermarks_us in (self.entries.watermark_us, self.watermarks_us)
        )
        before = then[:-1][entry] != now[:-1][at]
        after = then[1:][entry] != now[1:][at]
        return np.arange(len(self.batches))[at][before | after]

    def spans(self, when: Closing) -> dict[int, Span]:
        """Position of each batch whose states count in other windows than before, and their frames."""
        return dict(self.changed_lateness(when)) | dict(self.changed_spans())

    def final(self, when: Closing) -> Ints:
        """For each batch, windows that end by then are final before it, and were when it was last derived."""
        if self.entries is None or not when.lateness_us:
            return when.final[:-1]
        positions, entry = self._old_batches
        then, out = replace(when, watermarks_us=self.entries.watermark_us).final[:-1], when.final[:-1].copy()
        out[positions] = np.minimum(out[positions], then[entry])
        return out

    def revised(self, when: Closing, behind_us: int = 0) -> list[tuple[int, int]]:
        """The first of the batches whose windows a batch revises, and this batch.

        `behind_us`: how far behind its rows a window ends at least.
        """
        spans = self.spans(when) if when.lateness_us else {}
        at = np.array([*spans], np.int64)
        low_us = np.array([low_us + behind_us for low_us, _ in spans.values()], np.int64)
        first = when.first_revised(at, low_us, self.final(when)[at])
        return [*zip(first[first < at].tolist(), at[first < at].tolist(), strict=True)]

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
        before = replace(when, watermarks_us=self.entries.watermark_us).final[:-1][entry]
        now = when.final[:-1][positions]
        other = before != now  # seldom: the spans of other batches are not compared
        at = np.arange(len(self.batches))[positions][other]
        later = np.maximum(before[other], now[other])
        low, high = self._span(at)
        late = low < later
        return _held(at[late], low[late], np.minimum(high, later)[late])

    def _span(self, at: Ints) -> tuple[Ints, Ints]:
        """First and last frame of old and new states of batches; `AFTER_ALL`, `BEFORE_ALL` without states."""
        low, high, entry = self.batches.low_us[at], self.batches.high_us[at], self.entry[at]
        if self.entries is None or not len(self.entries):
            return low, high
        is_old = entry >= 0
        was_low = np.where(is_old, self.entries.low_us[entry], AFTER_ALL)
        was_high = np.where(is_old, self.entries.high_us[entry], BEFORE_ALL)
        return np.minimum(low, was_low), np.maximum(high, was_high)


def _held(at: Ints, low: Ints, high: Ints) -> list[tuple[int, Span]]:
    """Positions with their stretches, without stretches that hold nothing."""
    there = low <= high
    return [
        (place, (first, last))
        for place, first, last in zip(*(column[there].tolist() for column in (at, low, high)), strict=True)
    ]
