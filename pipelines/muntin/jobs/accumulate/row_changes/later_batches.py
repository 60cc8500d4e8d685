"""The later batches that change rows of batches about to be read, as was decided when
windows were made last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.shares import Later, steps_of_files
from muntin.jobs.deduplication.kept_decisions import changers
from muntin.jobs.inputs.inputs import inputs
from muntin.jobs.inputs.listings.listing import Inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from muntin.jobs.accumulate.readings import Reading
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile


def with_later(bound: Bound, readings: Sequence[Reading]) -> list[Reading]:
    """Readings whose splits know the later batches that change their rows.

    Where that is not known yet, or is otherwise by now, the batch is read again before windows are made; see
    `jobs.finalize.settle`. The files of a later batch must be there.
    """
    if bound.source.changes is None:
        return list(readings)
    _, later = later_of(bound, {split.batch_us for reading in readings for split in reading.splits})
    return [
        replace(reading, splits=[replace(split, later=later[split.batch_us]) for split in reading.splits])
        for reading in readings
    ]


def later_of(bound: Bound, starts: Collection[int]) -> tuple[Bound, dict[int, tuple[Later, ...]]]:
    """The definition with what only reading tells of its source, and the later batches that change rows of
    each of some batches.

    `bound`: of a source with changes. `starts`: of the batches.
    """
    changers_by_home, after = changers(bound, starts), bound.pipeline.intervals.after
    intervals = {
        start: Interval(start, after(start))
        for changing in changers_by_home.values()
        for start, _ in changing
    }
    given = inputs(bound, [intervals[start] for start in sorted(intervals)]) if intervals else Inputs({}, {})
    files = {interval.start_us: batch_files for interval, batch_files in given.files.items()}
    later = {
        home: tuple(later_batch(intervals[start], files[start]) for start, _ in changing)
        for home, changing in changers_by_home.items()
    }
    return given.of(bound), later


def later_batch(interval: Interval, files: Sequence[SourceFile]) -> Later:
    """A batch by its files."""
    return Later(
        interval.start_us, interval.end_us, tuple(file.path for file in files), steps_of_files(files)
    )
