"""Several sources: a batch has the files of all sources, source by source.

If a source lacks files, the batch lacks them.

Batches that were read and whose files are gone since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from muntin.definition.instants import BEFORE_ALL
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import MuntinError, SourceError
from muntin.jobs.inputs.listings.listing import Inputs, listing
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import current
from muntin.jobs.records.reports_table import report_of_source
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.states.frames import Flags, is_among
from muntin.timeline.batches import Batches

_NAMED = 5


def purged(bound: Bound, gone: Sequence[Interval]) -> list[Interval]:
    """The intervals without files of which rows were read: states hold what no file does any more.

    Of batches that the states lack, the batches in a live table, made from another definition's states, or
    from states that are lost.
    """
    if not gone:
        return []
    starts = np.array([interval.start_us for interval in gone], np.int64)
    held, own = np.zeros(len(gone), np.bool_), np.zeros(len(gone), np.bool_)
    for frames in bound.frame_sets:
        batches = accumulated(bound, frames.table)
        own |= batches.position(starts) >= 0
        held |= is_among(starts, batches.start_us[_has_rows(bound, batches)])
    if bound.source.member is None:
        is_closed = np.zeros(len(starts), np.bool_)
        for window in bound.windows:
            if ledger := current(bound.store, window).ledger:
                is_closed |= is_among(starts, ledger.entries.start_us[ledger.entries.high_us > BEFORE_ALL])
        held |= ~own & is_closed
    return [gone[at] for at in np.flatnonzero(held).tolist()]


def _has_rows(bound: Bound, batches: Batches) -> Flags:
    """The batches with rows of the source; of one among several sources the batches with
    event times of it.
    """
    return (
        batches.rows > 0
        if bound.source.member is None
        else batches.newest_of(bound.source.member.number) > BEFORE_ALL
    )


def check_kept(bound: Bound, gone: Sequence[Interval], what: str = "file") -> None:
    """Refuse intervals without files that rows were read of. `what`: what there is none of."""
    if lost := purged(bound, gone):
        named = ", ".join(map(str, lost[:_NAMED])) + (
            f" and {many(len(lost) - _NAMED, 'more batch')}" if len(lost) > _NAMED else ""
        )
        span = bound.pipeline.intervals.options(lost[0].start_us, lost[-1].end_us)
        raise SourceError(
            f"{named}: rows were read before, and there is no {what} any more; an empty batch would take them"
            f" out of published windows. Bring the {what}s back, or run the other batches alone, as muntin"
            f" run FILE does. If the rows shall go, say so: muntin run FILE --root {bound.root} {span}"
            " --allow-missing, or run(..., allow_missing=True)"
        )


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them; an error names its source."""
    parts = {}
    for name, member in bound.members.items():
        with telling(name):
            parts[name] = listing(member.source).inputs(
                member, intervals, allow_missing=allow_missing, keep=keep, there=there
            )
    return together(parts)


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that one of the sources has no files of, and has had rows of in the state."""
    members = bound.members.values()
    purged_intervals = {
        interval
        for member in members
        for interval in purged(member, listing(member.source).without_files(member, intervals))
    }
    return [interval for interval in intervals if interval in purged_intervals]


def first_inputs(bound: Bound) -> Inputs:
    """The first files of each source, which may be of different intervals."""
    parts = {}
    for name, member in bound.members.items():
        with telling(name):
            parts[name] = listing(member.source).first_inputs(member)
    return together(parts)


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a source differ from its files in the report of a batch; None if no source's files
    differ.
    """
    for name, member in bound.members.items():
        own = [replace(file, source=None) for file in files if file.source == name]
        if reason := listing(member.source).difference(member, report_of_source(report, name), own):
            return f"{name}: {reason}"
    return None


@contextmanager
def telling(name: str) -> Iterator[None]:
    """A context whose errors name a source."""
    try:
        yield
    except MuntinError as wrong:
        raise type(wrong)(f"source {name!r}: {wrong}") from wrong


def together(parts: Mapping[str, Inputs]) -> Inputs:
    """The inputs of the batches of all sources. `parts`: name -> the inputs of one source."""
    intervals = sorted({interval for part in parts.values() for interval in part.files})
    files = {
        interval: [
            replace(file, source=name)
            for name, part in parts.items()
            for file in part.files.get(interval, ())
        ]
        for interval in intervals
    }
    hidden = {
        interval: sum(part.hidden.get(interval, 0) for part in parts.values()) for interval in intervals
    }
    return Inputs(files, {}, parts=parts, hidden=hidden)
