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

from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from muntin.definition.instants import BEFORE_ALL
from muntin.definition.schedule import Interval
from muntin.errors import ForgottenError, SourceError
from muntin.jobs.inputs.changed_files import SourceChanges, changed_files, seen_up_to, turn
from muntin.jobs.inputs.listings import of_several
from muntin.jobs.inputs.listings.listing import listing
from muntin.jobs.published.pending import accumulated, read_everywhere, readable
from muntin.jobs.records.reports_table import last_accumulated, report_of_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from muntin.jobs.inputs.listings.listing import Inputs, Listing
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.sources.logged.log import Log
    from muntin.tasks import Runner


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


@contextmanager
def inputs_of_run(
    bound: Bound, runner: Runner, intervals: Sequence[Interval], *, allow_missing: bool
) -> Iterator[Inputs]:
    """The inputs of batches that are about to be read, as `inputs` gives them, in a context in which the
    files are there.
    """
    if bound.members:
        with ExitStack() as members:
            parts: dict[str, Inputs] = {}
            for name, each in bound.members.items():
                with of_several.telling(name):
                    parts[name] = members.enter_context(
                        inputs_of_run(each, runner, intervals, allow_missing=allow_missing)
                    )
            yield of_several.together(parts)
        return
    if not bound.source.needs_spark:
        yield inputs(bound, intervals, allow_missing=allow_missing, keep=True)
        forget_rows = getattr(listing(bound.source), "forget_rows", None)
        if bound.forgotten.columns and forget_rows:
            forget_rows(bound, intervals)
        return
    from muntin.jobs.inputs.materialised.materialise import materialised

    with materialised(bound, runner, intervals, allow_missing=allow_missing) as given:
        yield given


def with_dimensions(bound: Bound, *, written: bool = False) -> Bound:
    """The definition with its dimensions as they are now; unchanged where it has none, or has been given
    them.

    `written`: whether tasks will read them, from files below the state. Two rows of a key at the same time
    are an error.
    """
    if not bound.pipeline.lookups or (
        bound.dimensions and (not written or all(each.path for each in bound.dimensions))
    ):
        return bound
    from muntin.jobs.inputs.dimensions.read_dimensions import read_dimensions, with_file

    dimensions_and_rows = read_dimensions(bound)
    return replace(
        bound,
        dimensions=tuple(with_file(bound, *each) if written else each[0] for each in dimensions_and_rows),
    )


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
        from muntin.jobs.inputs.upstream import changes_of_upstream

        return changes_of_upstream(bound, unread=unread)
    if bound.source.log:
        return late_commits(bound)
    of_files = changed_files(bound, now_us, run=intervals)
    tables = [late_commits(member) for member in bound.members.values() if member.source.log]
    unreadable = {each: reason for one in tables for each, reason in one.unreadable.items()}
    stay, why = (
        {*of_files.gone, *of_files.waiting, *unreadable},
        {**of_files.why, **other_versions(bound, run=intervals)},
    )
    for one in tables:
        why |= one.why
    return replace(
        of_files,
        why={each: reason for each, reason in why.items() if each not in stay},
        marks={table: mark for one in tables for table, mark in one.marks.items()},
        unreadable=unreadable,
    )


def _asked(bound: Bound) -> Iterator[tuple[Bound, Any]]:
    """The definition over each source whose rows are asked for, and its listing."""
    for member in bound.members.values() or [bound]:
        if hasattr(of_kind := listing(member.source), "other_versions"):
            yield member, of_kind


def ask(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, str]:
    """Ask for the rows of batches, where a source has to be asked; the reasons why batches wait."""
    return {
        interval: why
        for member, of_kind in _asked(bound)
        for interval, why in of_kind.fetch(member, intervals).items()
    }


def other_versions(
    bound: Bound, intervals: Sequence[Interval] | None = None, *, run: Sequence[Interval] | None = None
) -> dict[Interval, str]:
    """Batches that were read, whose rows have another version by now, as far as `look_back` says.

    `intervals`: of these batches alone. `run`: of the batches whose turn it is beside a run of these
    intervals; None: of all.
    """
    why = dict[Interval, str]()
    for member, of_kind in _asked(bound):
        source: Any = member.source
        if source.version is None:
            continue
        batches, after = read_everywhere(bound), bound.pipeline.intervals.after
        from_us = source.looked_from_us(int(batches.end_us.max(initial=BEFORE_ALL)))
        starts = batches.start_us[batches.end_us > from_us]
        near = starts if run is None else starts[turn(starts, run)]
        read = intervals or readable(bound, [Interval(start, after(start)) for start in near.tolist()])
        why |= of_kind.other_versions(member, [each for each in read if each.start_us in {*starts.tolist()}])
    return why


def late_commits(bound: Bound) -> SourceChanges:
    """The batches to read again by the commits since the last run; all are compared where the log does not
    know up to where the last run was, as of a table that was made anew.

    A batch that has changed and cannot be read is compared again by the next run.
    """
    from muntin.sources.logged.table_files import log_of

    log = log_of(bound.source)  # type: ignore[arg-type]  # it is a table
    seen, starts = seen_up_to(bound, log.root), accumulated(bound, bound.frame_sets[0].table).start_us
    if not len(starts):
        return SourceChanges(marks={log.root: (log.mark, seen)})
    after, versions = bound.pipeline.intervals.after, log.since(seen)
    from_us = bound.source.looked_from_us(after(int(starts[-1])))  # type: ignore[attr-defined]  # as above
    if len(versions) < len(log.made_us):
        starts = np.intersect1d(starts, _starts(bound, log, versions))
    read = [each for start in starts.tolist() if (each := Interval(start, after(start))).end_us > from_us]
    why, unreadable = _changed(bound, readable(bound, read))
    marks = {} if unreadable else {log.root: (log.mark, seen)}
    return SourceChanges(why, marks=marks, unreadable=unreadable)


def _starts(bound: Bound, log: Log, versions: Iterable[int]) -> list[int]:
    """The starts of the batches that versions belong to."""
    schedule = bound.pipeline.intervals
    first = schedule.around(schedule.after(schedule.first_us - 1))
    return [max(first, schedule.around(log.made_us[version])).start_us for version in versions]


def _changed(bound: Bound, intervals: list[Interval]) -> tuple[dict[Interval, str], dict[Interval, str]]:
    """Why batches have changed; and why batches that have cannot be read."""
    why, unreadable = dict[Interval, str](), dict[Interval, str]()
    reports = last_accumulated(bound.store, intervals) if intervals else {}
    for interval, given in inputs_of_each(bound, intervals).items() if intervals else ():
        report = reports.get(interval.start_us)
        if isinstance(given, SourceError):
            if not isinstance(given, ForgottenError):  # of what the log has forgotten stays what was read
                unreadable[interval] = str(given)
        elif report is None:
            why[interval] = "read, but not reported"
        elif reason := difference(bound, report, given.files[interval]):
            why[interval] = reason
    return why, unreadable
