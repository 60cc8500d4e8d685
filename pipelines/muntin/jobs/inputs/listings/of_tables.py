"""A table with a log: the files that the commits of an interval added.

They never change; a clock that went wrong may add some later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.inputs.listings.of_several import check_kept
from muntin.jobs.records.reports_table import manifest
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.sources.logged.table_files import in_full, log_of, table_files
from muntin.sources.tables import TableSource


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them."""
    source = in_full(_source(bound))
    files_of_batches = table_files(source, intervals, _first(bound).start_us)
    if not allow_missing:
        check_kept(bound, [interval for interval, files in files_of_batches.items() if not files])
    return Inputs(files_of_batches, {}, source)


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals without files; not the intervals that the log does not reach back to."""
    with suppress(SourceError):
        files_of_batches = table_files(in_full(_source(bound)), intervals, _first(bound).start_us)
        return [interval for interval, files in files_of_batches.items() if not files]
    return []


def first_inputs(bound: Bound) -> Inputs:
    """The files of the first interval; if there are none, of the interval of the newest commit.

    A table that cannot be read is an error.
    """
    source, log = in_full(_source(bound)), log_of(_source(bound))
    newest = [bound.pipeline.intervals.around(log.made_us[log.newest])] if log.made_us else []
    for interval in (_first(bound), *newest):
        with suppress(SourceError):
            files_of_batch = table_files(source, [interval], _first(bound).start_us)
            if files_of_batch[interval]:
                return Inputs(files_of_batch, {}, source)
    return Inputs({}, {}, source)


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """The file that was added to a batch, or left it, since the batch was read; None: its
    files are the same.
    """
    before, now = {file.path for file in manifest(report)}, {file.path for file in files}
    for what, paths in (("new file", now - before), ("file gone", before - now)):
        if paths:
            return f"{what}: {Path(min(paths)).name}"
    return None


def _first(bound: Bound) -> Interval:
    """The first interval of the schedule."""
    schedule = bound.pipeline.intervals
    start_us = schedule.after(schedule.first_us - 1)
    return Interval(start_us, schedule.after(start_us))


def _source(bound: Bound) -> TableSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind
