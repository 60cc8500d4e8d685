"""What a batch is read from: files by template, or the files that an upstream pipeline published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.amounts import many
from pipelines.definition.instants import spell_instant
from pipelines.errors import SourceError
from pipelines.jobs.pending import accumulated
from pipelines.jobs.upstream import upstream
from pipelines.sources.listing import SourceFile, check_found, check_ready, source_files
from pipelines.sources.upstream_windows import WindowSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.schedule import Interval
    from pipelines.jobs.bound import Bound
    from pipelines.sources.files import FileSource

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Inputs:
    """What some batches are read from.

    Attributes:
        files: of each interval, in order.
        marks: start of the interval -> how far time is known after it, in microseconds, where the source says so itself.
    """

    files: Mapping[Interval, list[SourceFile]]
    marks: Mapping[int, int | None]


def inputs(bound: Bound, intervals: Sequence[Interval], *, forget: bool = False) -> Inputs:
    """The files of some intervals.

    Args:
        bound: the definition beside its state.
        intervals: of the batches.
        forget: whether an interval without files is an empty batch, whatever was read of it before.

    Raises:
        SourceError: an interval has none, and the source says that is an error, or rows were read of it before; a file
            belongs to two of the intervals; or the upstream has not published one.
    """
    if not isinstance(bound.source, WindowSource):
        found = source_files(bound.source, intervals)
        if not forget:
            _check_kept(bound, [interval for interval, files in found.items() if not files])
            for interval, files in found.items():
                check_found(bound.source, interval, files)
                check_ready(bound.source, interval)
        _check_apart(bound.source, found)
        return Inputs(found, {})
    starts = np.array([interval.start_us for interval in intervals], np.int64)
    theirs = upstream(bound, bound.source)
    for interval, at in zip(intervals, theirs.entries.position(starts).tolist(), strict=True):
        if at < 0:
            name = bound.source.upstream.name
            raise SourceError(
                f"{name} has not published the batch {interval} of its window {bound.source.window!r}; run {name} over it first"
            )
    published = theirs.files(starts)
    return Inputs({interval: published[interval.start_us] for interval in intervals}, theirs.marks(starts))


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that the source has no files of; none where an upstream says what a batch holds."""
    if isinstance(bound.source, WindowSource):
        return []
    return [interval for interval, files in source_files(bound.source, intervals).items() if not files]


def purged(bound: Bound, gone: Sequence[Interval]) -> list[Interval]:
    """Of intervals without files those that rows were read of: states hold what no file does any more."""
    if not gone:
        return []
    tables = [accumulated(bound, frames.table, bound.store.snapshot(frames.table)) for frames in bound.frame_sets]
    held = {start for batches in tables for start in batches.start_us[batches.rows > 0].tolist()}
    return [interval for interval in gone if interval.start_us in held]


def _check_kept(bound: Bound, gone: Sequence[Interval]) -> None:
    if lost := purged(bound, gone):
        named = ", ".join(map(str, lost[:_NAMED])) + (f" and {many(len(lost) - _NAMED, 'more batch')}" if len(lost) > _NAMED else "")
        first, last = spell_instant(lost[0].start_us), spell_instant(lost[-1].end_us)
        raise SourceError(
            f"{named}: rows were read before, and there is no file any more; an empty batch would take them out of published windows. "
            f"Bring the files back, or run the other batches alone, as muntin backfill does. If the rows shall go, say so: "
            f"muntin run FILE --root {bound.root} --start {first} --end {last} --forget, or run(..., forget=True)"
        )


def _check_apart(source: FileSource, found: Mapping[Interval, Sequence[SourceFile]]) -> None:
    owners: dict[str, Interval] = {}
    for interval, files in found.items() if not source.all_files else ():
        for file in files:
            other = owners.setdefault(file.path, interval)
            if other != interval:
                raise SourceError(
                    f"{file.path} is a file of the batch {other} and of {interval}, and its rows would count twice; write path "
                    f"in sources.files(...) so that every file belongs to one batch, or say all_files=True if that is meant"
                )
