"""The batches of a range that differ from their source: missing, or read from other files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from muntin.definition.instants import from_us, instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.errors import ForgottenError, SourceError
from muntin.files.paths import AnyPath
from muntin.jobs.inputs.changed_files import changed_files
from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes
from muntin.jobs.inputs.inputs import difference, inputs_of_each, late_commits, other_versions, without_files
from muntin.jobs.inputs.listings.of_several import purged
from muntin.jobs.published.pending import readable, versions
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import Bound, bind
from muntin.sources.file_source import FileSource

UNREAD = "missing"
"""The reason of a batch that was never read."""


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


def outdated(
    pipeline: Pipeline, *, root: str | AnyPath, start: datetime, end: datetime, now: datetime | None = None
) -> list[Outdated]:
    """The batches of `[start, end)` to read, the purged batches, and the batches that are not there yet, in
    order.

    A batch whose states are gone, as `retain` says, is left out. A source has changed when the content of its
    files is not that of the batch's manifest.

    `now`: a batch that changed just before waits; None: it does not.
    """
    bound = bind(pipeline, root)
    intervals = readable(
        bound, pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    )
    there = versions(bound)
    read, unread = ([each for each in intervals if (each.start_us in there) is had] for had in (True, False))
    changes = changed_files(bound, None if now is None else instant_us(now, "now"), read)
    of_files, log = isinstance(bound.source, FileSource), bound.source.log
    lost = {*changes.gone, *purged(bound, without_files(bound, unread if of_files or log else intervals))}
    absent = dict(changes.waiting)
    for each, wrong in inputs_of_each(bound, [each for each in unread if each not in lost]).items():
        if isinstance(wrong, SourceError) and not wrong.is_there:
            absent[each] = str(wrong)
    changed = changes.why
    if not of_files:
        changed, unreadable = _changed(bound, read, there, lost)
        absent |= unreadable
    why = {**lookup_changes(bound).why, **changed, **other_versions(bound, read)}
    why |= dict.fromkeys(unread, UNREAD)
    return [
        Outdated(
            from_us(each.start_us),
            from_us(each.end_us),
            "no file any more" if each in lost else absent.get(each) or why[each],
            purged=each in lost,
            there=each not in absent,
        )
        for each in intervals
        if each in lost or each in absent or each in why
    ]


def _changed(
    bound: Bound,
    intervals: Sequence[Interval],
    versions_by_start: Mapping[int, str],
    lost: Collection[Interval],
) -> tuple[dict[Interval, str], dict[Interval, str]]:
    """The batches whose source is not as it was read -> why; and of these the batches that cannot be read ->
    why. Of a table the commits since the last run are compared.
    """
    reports, why = last_accumulated(bound.store, intervals), dict[Interval, str]()
    reported, unreadable = list[Interval](), dict[Interval, str]()
    for each in intervals:
        report = reports.get(each.start_us)
        if each in lost:
            continue
        if report is None or report["version"] != versions_by_start[each.start_us]:
            why[each] = "read, but not reported"
        else:
            reported.append(each)
    if bound.source.log:
        commits, asked = late_commits(bound), {*reported}
        why |= {each: reason for each, reason in commits.why.items() if each in asked}
        return why, {each: reason for each, reason in commits.unreadable.items() if each in asked}
    for each, given in inputs_of_each(bound, reported).items():
        if isinstance(given, SourceError):
            if not isinstance(given, ForgottenError):  # to read it again is not possible
                unreadable[each] = str(given)
        elif reason := difference(bound, reports[each.start_us], given.files[each]):
            why[each] = reason
    return why, unreadable
