"""Which batches of a range are not what their source is now: missing, or read from other files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.definition.instants import from_us, instant_us
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.inputs import inputs
from pipelines.jobs.pending import accumulated
from pipelines.jobs.reports_table import last_accumulated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pipelines.definition.pipeline import Pipeline
    from pipelines.definition.schedule import Interval
    from pipelines.sources.listing import SourceFile


@dataclass(frozen=True, slots=True)
class Outdated:
    """A batch that should be read (again), and why."""

    interval_start: datetime
    interval_end: datetime
    reason: str


def outdated(pipeline: Pipeline, *, root: str | Path, start: datetime, end: datetime, everything: bool = False) -> list[Outdated]:
    """The batches of `[start, end)` to read, in order; all of them if `everything`.

    A source has changed when its files' paths or sizes are not those of the batch's manifest, or when one was written
    after the batch was read.

    Raises:
        DefinitionError, SourceError, StateError: as `run`.
    """
    bound = bind(pipeline, root)
    known, reports = versions(bound), last_accumulated(bound.store)
    found = []
    for interval in pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end")):
        at = interval.start_us
        reason = _reason(bound, interval, known.get(at), reports.get(at)) or ("asked for" if everything else None)
        if reason:
            found.append(Outdated(from_us(at), from_us(interval.end_us), reason))
    return found


def versions(bound: Bound) -> dict[int, str]:
    """Start of a batch -> version of its states, for the batches that every frame set has."""
    known = [
        {one.interval.start_us: one.version for one in accumulated(bound, bound.store.snapshot(frames.table))}
        for frames in bound.frame_sets
    ]
    return {start: version for start, version in known[0].items() if all(start in each for each in known)}


def _reason(bound: Bound, interval: Interval, version: str | None, report: Mapping[str, Any] | None) -> str | None:
    if version is None:
        return "missing"
    if report is None or report["version"] != version:
        return "read, but not reported"
    return difference(report, inputs(bound, [interval]).files[interval])


def difference(report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a batch differ from those in its report; None if they do not."""
    before, now = {(path, size) for path, size, _ in json.loads(report["files"])}, {(file.path, file.size) for file in files}
    if before != now:
        return _of_paths({path for path, _ in before}, {path for path, _ in now})
    late = [file.path for file in files if file.written_ns > instant_us(report["recorded_at"], "recorded_at") * 1000]
    return f"written since it was read: {Path(late[0]).name}" if late else None


def _of_paths(before: set[str], now: set[str]) -> str:
    for what, paths in (("new file", now - before), ("file gone", before - now)):
        if paths:
            return f"{what}: {Path(min(paths)).name}"
    return "a file has another size"
