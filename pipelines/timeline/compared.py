"""The history beside the ledger: which batches changed, which moved, and which states are late now and were not, or the reverse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import BEFORE_ALL
from pipelines.timeline.closing import Closing

if TYPE_CHECKING:
    from pipelines.states.frames import Ints
    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Entry

Span = tuple[int, int]  # the starts of a first and of a last frame


@dataclass(frozen=True)
class Compared:
    """The history now, its watermarks, and the ledger's entries; None if nothing was derived under this definition."""

    batches: tuple[Batch, ...]
    marks: Ints
    entries: tuple[Entry, ...] | None

    @cached_property
    def before(self) -> dict[int, Entry]:
        """Start of a batch -> its entry."""
        return {entry.start_us: entry for entry in self.entries or ()}

    def changed(self) -> tuple[int, ...]:
        """Positions of the batches that are new or whose states changed."""
        before = self.before
        return tuple(at for at, batch in enumerate(self.batches) if _version(before.get(batch.interval.start_us)) != batch.version)

    def moved(self) -> set[int]:
        """Positions of the known batches that close another stretch of time than before: their watermark or the one before differs."""
        closed_before, previous = {}, BEFORE_ALL
        for entry in self.entries or ():
            closed_before[entry.start_us] = (previous, entry.mark_us)
            previous = entry.mark_us
        marks = [BEFORE_ALL, *self.marks.tolist()]
        pairs = ((at, closed_before.get(batch.interval.start_us)) for at, batch in enumerate(self.batches))
        return {at for at, stretch in pairs if stretch not in (None, (marks[at], marks[at + 1]))}

    def span(self, at: int) -> Span | None:
        """The frames of a batch, of its old and its new states; None without states."""
        batch = self.batches[at]
        entry = self.before.get(batch.interval.start_us)
        new_and_old = [(batch.low_us, batch.high_us), (entry.low_us, entry.high_us) if entry else (None, None)]
        spans = [(low, high) for low, high in new_and_old if low is not None and high is not None]
        return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None

    def changed_lateness(self, when: Closing) -> dict[int, Span]:
        """Batches with states that are late now and were not, or were late and are not, and the frames of these states.

        The windows may hold the same states. But a late state is combined after the others, and floats depend on the order.
        """
        entries = self.entries or ()
        floors = Closing(np.array([entry.mark_us for entry in entries], np.int64), when.slack).floor.tolist()
        floor_before = {entry.start_us: floor for entry, floor in zip(entries, floors, strict=False)}
        spans = {}
        for at, batch in enumerate(self.batches):
            before, now = floor_before.get(batch.interval.start_us), int(when.floor[at])
            if before is not None and before != now and (span := self.span(at)) and span[0] < max(before, now):
                spans[at] = (span[0], min(span[1], max(before, now)))
        return spans


def _version(entry: Entry | None) -> str | None:
    return entry.version if entry else None
