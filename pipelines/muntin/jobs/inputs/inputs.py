"""The files that a batch is read from, for every kind of source, and for one or several sources.

Source changes: batches to read again since their source has changed, for sources that report it
themselves.

Commits to a table that belong to a batch which was read before they came: of a slow clock, or to an interval
that was at work.

commits     1     2  | 3                    4 (made in the first interval, by its writer's clock)
intervals   first    | second | third ...
read             first, second               then first once more: it has version 4, too
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import BEFORE_ALL
from muntin.errors import ForgottenError, SourceError
from muntin.jobs.inputs.changed_files import changed_files
from muntin.jobs.inputs.listings import of_several
from muntin.jobs.inputs.listings.listing import listing
from muntin.jobs.inputs.upstream import SourceChanges, changes_of_upstream, seen_up_to
from muntin.jobs.published.pending import accumulated, readable
from muntin.jobs.records.reports_table import last_accumulated, report_of_source
from muntin.sources.logged.table_files import log_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.inputs.listings.listing import Inputs, Listing
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.sources.logged.log import Log


def _listing(bound: Bound) -> Listing:
    return of_several if bound.pipeline.sources else listing(bound.source)


def inputs(
    bound: Bound,
    intervals: Sequence[Interval],
    *,
    allow_missing: bool = False,
    keep: bool = False,
    there: bool = False,
) -> Inputs:
    """The files of some intervals.

    An interval without files is an error where the source says so or rows were read of it before, unless
    `allow_missing`; so is a file of two intervals, and an interval whose messages are gone or that the
    upstream has not published. `there`: a source that knows what a batch holds sees that all of it is still
    there. `keep`: the files are about to be read, so that a source which must remember what a batch holds
    notes it in the state.
    """
    return _listing(bound).inputs(bound, intervals, allow_missing=allow_missing, keep=keep, there=there)


def inputs_of_each(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, Inputs | SourceError]:
    """The inputs of each interval alone, as `inputs` gives them, which may be an error; the source is asked
    once where none is.
    """
    with suppress(SourceError):
        given = inputs(bound, intervals)
        return {interval: given.only([interval]) for interval in intervals}
    return {interval: _inputs_or_error(bound, interval) for interval in intervals}


def _inputs_or_error(bound: Bound, interval: Interval) -> Inputs | SourceError:
    try:
        return inputs(bound, [interval])
    except SourceError as wrong:
        return wrong


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that the source has no files of; none where files do not say what a batch holds."""
    return _listing(bound).without_files(bound, intervals)


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a batch differ from the files in its report; None if they do not.

    Of one of several sources its own files count.
    """
    report = report_of_source(report, bound.source.member.name) if bound.source.member else report
    return _listing(bound).difference(bound, report, files)


def first_inputs(bound: Bound) -> Inputs:
    """The files of the first interval that has any, to check a definition by; no files where none of the
    first intervals has.
    """
    return _listing(bound).first_inputs(bound)


def source_changes(
    bound: Bound, now_us: int, intervals: Sequence[Interval] | None = None, *, unread: bool = False
) -> SourceChanges:
    """The batches whose source is not as it was read: files that changed, rows that came late to a Delta
    table, windows that an upstream has published anew.

    `intervals`: of the run, by which older batches take their turns; None: all are compared. `unread`:
    batches of an upstream that were never read count, too.
    """
    if bound.source.upstream:
        return changes_of_upstream(bound, unread=unread)
    if bound.source.log:
        return late_commits(bound)
    of_files = changed_files(bound, now_us, run=intervals)
    stay, why = {*of_files.gone, *of_files.waiting}, dict(of_files.why)
    for member in bound.members.values():
        if member.source.log:
            why |= {each: reason for each, reason in late_commits(member).why.items() if each not in stay}
    return replace(of_files, why=why)


def late_commits(bound: Bound) -> SourceChanges:
    """The batches to read again, and how many versions there are."""
    log = log_of(bound.source)  # type: ignore[arg-type]  # it is a table
    seen = seen_up_to(bound, log.root)
    ends = accumulated(bound, bound.frame_sets[0].table).end_us
    from_us = bound.source.looked_from_us(int(ends.max(initial=BEFORE_ALL)))  # type: ignore[attr-defined]  # as above
    read = [each for each in _read_before(bound, log, log.since(seen)) if each.end_us > from_us]
    near = readable(bound, sorted(read))
    return SourceChanges(dict(_changed(bound, near)), log.root, log.mark, seen)


def _read_before(bound: Bound, log: Log, versions: Iterable[int]) -> set[Interval]:
    """The intervals of versions whose batches were read."""
    table, schedule = bound.frame_sets[0].table, bound.pipeline.intervals
    batch_starts = {*accumulated(bound, table).start_us.tolist()}
    first = schedule.around(schedule.after(schedule.first_us - 1))
    intervals = (
        {max(first, schedule.around(log.made_us[version])) for version in versions} if batch_starts else set()
    )
    return {each for each in intervals if each.start_us in batch_starts}


def _changed(bound: Bound, intervals: list[Interval]) -> Iterable[tuple[Interval, str]]:
    reports = last_accumulated(bound.store, intervals) if intervals else {}
    for interval, given in inputs_of_each(bound, intervals).items() if intervals else ():
        if isinstance(given, ForgottenError):  # what was read stays
            continue
        if isinstance(given, SourceError):
            raise given
        report = reports.get(interval.start_us)
        reason = (
            "read, but not reported" if report is None else difference(bound, report, given.files[interval])
        )
        if reason:
            yield interval, reason
