"""Which windows a run would derive anew, and how many they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.jobs.pending import accumulated, published
from pipelines.timeline.closing import watermarks
from pipelines.timeline.history import Batch, history
from pipelines.timeline.reconcile import reconcile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.definition.schedule import Interval
    from pipelines.jobs.bound import Bound


@dataclass(frozen=True, slots=True)
class PlannedWindows:
    """The windows of one name that would be derived anew.

    Attributes:
        starts: of the batches that close them, microseconds.
        published: how many of them are published now.
        expected: how many that may become, if a new batch closes as many as the mean of the others; None where nothing is published.
        missing: the intervals that are missing between batches.
    """

    starts: tuple[int, ...]
    published: int
    expected: int | None
    missing: tuple[Interval, ...]


def planned_windows(bound: Bound, name: str, asked: Sequence[Interval], anew: Sequence[Interval]) -> PlannedWindows:
    """What a run would do with the windows of one name.

    Args:
        bound, name: the pipeline, the window's name.
        asked: the intervals of the run; they say where history begins while nothing is published.
        anew: those of which the run would bring other states.
    """
    frames, was = bound.frames_of(name), published(bound.store, name)
    have = {batch.interval: batch for batch in accumulated(bound, bound.store.snapshot(frames.table))}
    have |= {interval: _reread(interval, have.get(interval)) for interval in anew}
    batches = [have[interval] for interval in sorted(have)]
    entries = was.ledger.by_start() if was.ledger else {}
    found = history(batches, entries, [i.start_us for i in asked], bound.pipeline.intervals, fill=bound.pipeline.on_gap == "empty")
    marks = watermarks(found.batches, bound.pipeline.marks_by)
    work = reconcile(bound.windows[name], frames.width_us, found.batches, marks, was.ledger, bound.derivation(name))
    starts = tuple(found.batches[at].interval.start_us for at in work.positions)
    counts = [entries[start].windows for start in starts if start in entries]
    mean = sum(entry.windows for entry in entries.values()) / len(entries) if entries else None
    expected = None if mean is None else round(sum(counts) + mean * (len(starts) - len(counts)))
    return PlannedWindows(starts, sum(counts), expected, tuple(found.missing))


def _reread(interval: Interval, before: Batch | None) -> Batch:
    """A batch as if its reading gave something else, over the frames it has now, or over its interval's if it is new."""
    if before is None:
        return Batch(interval, "planned", interval.end_us - 1, interval.start_us, interval.end_us - 1)
    return Batch(interval, "planned", before.newest_us, before.low_us, before.high_us, before.rows)
