"""The batches of a range that differ from their source: missing, or read from other files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from muntin.definition.instants import from_us, instant_us
from muntin.errors import ForgottenError, SourceError
from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes
from muntin.jobs.inputs.inputs import difference, inputs_of_each, without_files
from muntin.jobs.inputs.listings.of_several import purged
from muntin.jobs.published.pending import accumulated, readable
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import Bound, bind
from muntin.timeline.batches import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.inputs.listings.listing import Inputs


@dataclass(frozen=True, slots=True)
class Outdated:
    """A batch that should be read (again), and why.

    `purged`: rows were read of it, and it has no file any more. To read it takes its rows out of published
    windows. `there`: it can be read; else `reason` says what it waits for.
    """

    interval_start: datetime
    interval_end: datetime
    reason: str
    purged: bool = False
    there: bool = True


def outdated(pipeline: Pipeline, *, root: str | AnyPath, start: datetime, end: datetime) -> list[Outdated]:
    """The batches of `[start, end)` to read, the purged batches, and the batches that are not there yet, in
    order.

    A batch whose states are gone, as `retain` says, is left out. A source has changed when its files are not
    the files of the batch's manifest: by path, size and the time when they were last written, or by content
    where `sources.files(..., checksum=True)` says so.
    """
    bound = bind(pipeline, root)
    intervals = readable(
        bound, pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    )
    versions_by_start, reports = versions(bound), last_accumulated(bound.store, intervals)
    lost, outdated_batches = set(purged(bound, without_files(bound, intervals))), []
    reported = [
        each
        for each in intervals
        if each not in lost and _is_reported(versions_by_start.get(each.start_us), reports.get(each.start_us))
    ]
    given, looked_up = inputs_of_each(bound, reported), lookup_changes(bound).why
    unread = [each for each in intervals if each not in lost and each.start_us not in versions_by_start]
    absent = {
        each: wrong
        for each, wrong in inputs_of_each(bound, unread).items()
        if isinstance(wrong, SourceError) and not wrong.is_there
    }
    for interval in intervals:
        at = interval.start_us
        if interval in lost:
            outdated_batches.append(
                Outdated(from_us(at), from_us(interval.end_us), "no file any more", purged=True)
            )
        elif interval in absent:
            outdated_batches.append(
                Outdated(from_us(at), from_us(interval.end_us), str(absent[interval]), there=False)
            )
        elif reason := _reason(
            bound, interval, versions_by_start.get(at), reports.get(at), given.get(interval)
        ) or looked_up.get(interval):
            outdated_batches.append(Outdated(from_us(at), from_us(interval.end_us), reason))
    return outdated_batches


def versions(bound: Bound) -> dict[int, str]:
    """Start of a batch -> version of its states, for the batches that every frame set has."""
    first, *others = (accumulated(bound, frames.table) for frames in bound.frame_sets)
    everywhere = (
        np.all([np.isin(first.start_us, other.start_us) for other in others], axis=0)
        if others
        else np.ones(len(first), np.bool_)
    )
    batches = first.take(everywhere)
    return dict(zip(batches.start_us.tolist(), map(spelled, batches.version.tolist()), strict=True))


def _is_reported(version: str | None, report: Mapping[str, Any] | None) -> bool:
    """Whether a batch was read, and its report is that of this reading."""
    return version is not None and report is not None and report["version"] == version


def _reason(
    bound: Bound,
    interval: Interval,
    version: str | None,
    report: Mapping[str, Any] | None,
    given: Inputs | SourceError | None,
) -> str | None:
    if version is None:
        return "missing"
    if given is None or report is None:
        return "read, but not reported"
    if isinstance(given, ForgottenError):  # to read it again is not possible
        return None
    if isinstance(given, SourceError):
        raise given
    return difference(bound, report, given.files[interval])
