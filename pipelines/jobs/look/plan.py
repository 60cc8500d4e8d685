"""Plan: the decisions of a run, nothing done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.definition.instants import from_us, instant_us
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.inputs import inputs
from pipelines.jobs.pending import accumulated, published
from pipelines.timeline.closing import watermarks
from pipelines.timeline.history import Batch, history
from pipelines.timeline.reconcile import reconcile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.definition.pipeline import Pipeline
    from pipelines.definition.schedule import Interval


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch that would be read: its interval, its files, their bytes, and whether it replaces an earlier reading."""

    interval_start: datetime
    interval_end: datetime
    files: tuple[str, ...]
    bytes: int
    replaces: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do.

    Attributes:
        batches: that would be read, in order.
        windows: window -> starts of the batches whose windows would be derived anew; a batch that is read again
            counts with the frames it has now.
        waiting_for: intervals that would still be missing between accumulated batches.
    """

    batches: tuple[PlannedBatch, ...]
    windows: Mapping[str, tuple[datetime, ...]]
    waiting_for: tuple[tuple[datetime, datetime], ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: instants as ISO text."""
        return {
            "batches": [
                {
                    "interval_start": b.interval_start.isoformat(),
                    "interval_end": b.interval_end.isoformat(),
                    "files": list(b.files),
                    "bytes": b.bytes,
                    "replaces": b.replaces,
                }
                for b in self.batches
            ],
            "windows": {name: [start.isoformat() for start in starts] for name, starts in self.windows.items()},
            "waiting_for": [[a.isoformat(), b.isoformat()] for a, b in self.waiting_for],
        }


def plan(pipeline: Pipeline, *, root: str | Path, start: datetime, end: datetime) -> Plan:
    """Which batches a run of `[start, end)` would read, which windows it would touch, which intervals are missing.

    Raises:
        DefinitionError, SourceError, StateError: as `run`.
    """
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    bound = bind(pipeline, root)
    touched: dict[str, tuple[datetime, ...]] = {}
    missing: set[tuple[int, int]] = set()
    known: set[int] = set()
    for name in pipeline.windows:
        touched[name], holes, had = _window(bound, name, intervals)
        missing |= holes
        known |= had
    return Plan(
        tuple(_planned(bound, interval, interval.start_us in known) for interval in intervals),
        touched,
        tuple((from_us(a), from_us(b)) for a, b in sorted(missing)),
    )


def _planned(bound: Bound, interval: Interval, replaces: bool) -> PlannedBatch:  # noqa: FBT001
    files = inputs(bound, [interval]).files[interval]
    return PlannedBatch(
        from_us(interval.start_us), from_us(interval.end_us), tuple(f.path for f in files), sum(f.size for f in files), replaces
    )


def _window(bound: Bound, name: str, intervals: list[Interval]) -> tuple[tuple[datetime, ...], set[tuple[int, int]], set[int]]:
    frames, was = bound.frames_of(name), published(bound.store, name)
    have = {batch.interval: batch for batch in accumulated(bound, bound.store.snapshot(frames.table))}
    known = {interval.start_us for interval in have}
    have |= {interval: _reread(interval, have.get(interval)) for interval in intervals}
    batches = [have[interval] for interval in sorted(have)]
    starts = was.ledger.by_start() if was.ledger else {}
    found = history(batches, starts, [i.start_us for i in intervals], bound.pipeline.intervals, fill=bound.pipeline.on_gap == "empty")
    marks = watermarks(found.batches, bound.pipeline.marks_by)
    work = reconcile(bound.windows[name], frames.width_us, found.batches, marks, was.ledger, bound.derivation(name))
    anew = tuple(from_us(found.batches[at].interval.start_us) for at in work.positions)
    return anew, {(hole.start_us, hole.end_us) for hole in found.missing}, known


def _reread(interval: Interval, before: Batch | None) -> Batch:
    """A batch as if its reading gave something else, over the frames it has now, or over its interval's if it is new."""
    if before is None:
        return Batch(interval, "planned", interval.end_us - 1, interval.start_us, interval.end_us - 1)
    return Batch(interval, "planned", before.newest_us, before.low_us, before.high_us, before.rows)
