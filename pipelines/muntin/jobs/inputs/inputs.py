"""The files that a batch is read from, for every kind of source, and for one or several sources."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from muntin.errors import SourceError
from muntin.jobs.inputs.listings import of_several
from muntin.jobs.inputs.listings.listing import listing
from muntin.jobs.records.reports_table import report_of_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.inputs.listings.listing import Inputs, Listing
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile


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
