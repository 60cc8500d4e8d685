"""Which batches of a range are not what their source is now: missing, or read from other files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.definition.instants import from_us, instant_us
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.inputs import inputs, purged, without_files
from pipelines.jobs.kept_states import readable
from pipelines.jobs.pending import accumulated
from pipelines.jobs.reports_table import last_accumulated, manifest
from pipelines.jobs.upstream import other_windows
from pipelines.sources.listing import source_file
from pipelines.sources.upstream_windows import WindowSource
from pipelines.timeline.batches import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pipelines.definition.pipeline import Pipeline
    from pipelines.definition.schedule import Interval
    from pipelines.files.paths import AnyPath
    from pipelines.jobs.reports import ReadFile
    from pipelines.sources.listing import SourceFile


@dataclass(frozen=True, slots=True)
class Outdated:
    """A batch that should be read (again), and why.

    `purged`: rows were read of it, and it has no file any more. To read it takes these rows out of published windows.
    """

    interval_start: datetime
    interval_end: datetime
    reason: str
    purged: bool = False


def outdated(pipeline: Pipeline, *, root: str | AnyPath, start: datetime, end: datetime, everything: bool = False) -> list[Outdated]:
    """The batches of `[start, end)` to read and those that are purged, in order; all of them if `everything`.

    A batch whose states are gone, as `retain` says, is none of them. A source has changed when its files are not those of the batch's
    manifest: by path, size and the time when they were last written, or by content where `sources.files(..., checksum=True)` says so.

    Raises:
        DefinitionError, SourceError, StateError: as `run`.
    """
    bound = bind(pipeline, root)
    intervals = readable(bound, pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end")))
    known, reports = versions(bound), last_accumulated(bound.store, intervals)
    lost, found = set(purged(bound, without_files(bound, intervals))), []
    for interval in intervals:
        at = interval.start_us
        if interval in lost:
            found.append(Outdated(from_us(at), from_us(interval.end_us), "no file any more", purged=True))
        elif reason := _reason(bound, interval, known.get(at), reports.get(at)) or ("asked for" if everything else None):
            found.append(Outdated(from_us(at), from_us(interval.end_us), reason))
    return found


def versions(bound: Bound) -> dict[int, str]:
    """Start of a batch -> version of its states, for the batches that every frame set has."""
    first, *others = (accumulated(bound, frames.table, bound.store.snapshot(frames.table)) for frames in bound.frame_sets)
    everywhere = np.all([np.isin(first.start_us, other.start_us) for other in others], axis=0) if others else np.ones(len(first), np.bool_)
    known = first.take(everywhere)
    return dict(zip(known.start_us.tolist(), map(spelled, known.version.tolist()), strict=True))


def _reason(bound: Bound, interval: Interval, version: str | None, report: Mapping[str, Any] | None) -> str | None:
    if version is None:
        return "missing"
    if report is None or report["version"] != version:
        return "read, but not reported"
    return difference(bound, report, inputs(bound, [interval]).files[interval])


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a batch differ from those in its report; None if they do not."""
    read = manifest(report)
    if isinstance(bound.source, WindowSource):
        return "published anew" if other_windows(read, files) else None
    before, now = {file.path: file for file in read}, {file.path: file for file in files}
    for what, paths in (("new file", now.keys() - before.keys()), ("file gone", before.keys() - now.keys())):
        if paths:
            return f"{what}: {Path(min(paths)).name}"
    if any(before[path].bytes != file.size for path, file in now.items()):
        return "a file has another size"
    recorded_ns = instant_us(report["recorded_at"], "recorded_at") * 1000
    anew = [Path(path).name for path, file in now.items() if _written(bound, before[path], file, recorded_ns)]
    return f"written since it was read: {anew[0]}" if anew else None


def _written(bound: Bound, before: ReadFile, now: SourceFile, recorded_ns: int) -> bool:
    """Whether a file of the same size has another content, as far as its checksum, else its time, tells."""
    if before.checksum and bound.source.checksum:
        return before.checksum != source_file(bound.source, now.path).checksum
    if before.checksum and now.checksum:  # ETags
        return before.checksum != now.checksum
    if before.written_ns is None:  # of version 0.1
        return now.written_ns > recorded_ns
    return before.written_ns != now.written_ns
