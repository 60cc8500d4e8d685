"""A history beside the ledger of what windows were derived from: which batches changed, moved, or are late otherwise."""

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
    """The history now, and the ledger's entries; None where nothing was derived under this definition."""

    batches: tuple[Batch, ...]
    marks: Ints
    entries: tuple[Entry, ...] | None

    @cached_property
    def before(self) -> dict[int, Entry]:
        """Start of a batch -> its entry."""
        return {entry.start_us: entry for entry in self.entries or ()}

    def changed(self) -> tuple[int, ...]:
        """Positions of the batches that are new or have other states."""
        before = self.before
        return tuple(at for at, batch in enumerate(self.batches) if _version(before.get(batch.interval.start_us)) != batch.version)

    def moved(self) -> set[int]:
        """Positions of the known batches that close another stretch of time than before."""
        old, previous = {}, BEFORE_ALL
        for entry in self.entries or ():
            old[entry.start_us] = (previous, entry.mark_us)
            previous = entry.mark_us
        now = [BEFORE_ALL, *self.marks.tolist()]
        return {at for at, batch in enumerate(self.batches) if old.get(batch.interval.start_us) not in (None, (now[at], now[at + 1]))}

    def span(self, at: int) -> Span | None:
        """The frames of a batch, old and new states together; None without states."""
        batch = self.batches[at]
        entry = self.before.get(batch.interval.start_us)
        known = [(batch.low_us, batch.high_us), (entry.low_us, entry.high_us) if entry else (None, None)]
        spans = [(low, high) for low, high in known if low is not None and high is not None]
        return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None

    def late_otherwise(self, when: Closing) -> dict[int, Span]:
        """Batches whose states are late where they were not, or the other way round, and the frames of these states.

        The windows hold the same states all the same; but a late state is combined after the others, and floats show it.
        """
        entries = self.entries or ()
        floors = Closing(np.array([entry.mark_us for entry in entries], np.int64), when.slack).floor.tolist()
        old = {entry.start_us: floor for entry, floor in zip(entries, floors, strict=False)}
        spans = {}
        for at, batch in enumerate(self.batches):
            was, now = old.get(batch.interval.start_us), int(when.floor[at])
            if was is not None and was != now and (span := self.span(at)) and span[0] < max(was, now):
                spans[at] = (span[0], min(span[1], max(was, now)))
        return spans


def _version(entry: Entry | None) -> str | None:
    return entry.version if entry else None
