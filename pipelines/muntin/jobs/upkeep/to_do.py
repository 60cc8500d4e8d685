"""The work that there is for a pipeline, up to now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow.compute as pc

from muntin.definition.instants import from_us, instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.files.paths import AnyPath
from muntin.jobs.inputs.inputs import ask as ask_sources
from muntin.jobs.inputs.inputs import inputs
from muntin.jobs.published.pending import pending_windows, read_everywhere, versions
from muntin.jobs.records.reports_table import read_reports
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.upkeep.outdated import UNREAD, Outdated, outdated
from muntin.jobs.upkeep.rebuild import left_behind, to_rebuild

_RECENT = 20
"""How many of the newest batches tell how long more batches take."""


def to_do(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    now: datetime,
    start: datetime | None = None,
    end: datetime | None = None,
    ask: bool = False,
) -> list[Outdated]:
    """The batches, from the pipeline's start to the last whole interval before `now`, that differ from their
    source, and what an earlier definition had read of them; in order. `start`, `end`: the batches between.
    `ask`: they are about to be read, so that functions are asked for the rows of unread batches.

    Raises:
        SourceError: no batch was ever read, and none is there.
    """
    intervals = pipeline.intervals
    first = start or from_us(intervals.first_border_us)
    last = end or from_us(intervals.around(instant_us(now, "now")).start_us)
    if end is None and first >= last:
        return []
    bound = bind(pipeline, root)
    earlier = to_rebuild(bound) if left_behind(bound) else []
    behind = {one.interval_start: one for one in earlier}
    batches = [
        left if (left := behind.get(one.interval_start)) and (left.purged or one.there) else one
        for one in outdated(pipeline, root=root, start=first, end=last, now=now)
    ]
    if ask:
        batches = _asked(bound, batches)
    most = pipeline.limits.max_changed
    if start is None and end is None and most is not None:
        batches = _within(batches, {*map(from_us, versions(bound))}, most)
    if batches and not any(one.there or one.purged for one in batches) and not versions(bound):
        more = f" ({many(len(batches) - 1, 'more batch')} likewise)" if len(batches) > 1 else ""
        raise SourceError(f"{batches[0].reason}{more}")
    return batches


def _asked(bound: Bound, batches: list[Outdated]) -> list[Outdated]:
    """The batches; a batch waits if a function says that its rows are not there yet."""
    unread = [one for one in batches if one.there and one.reason == UNREAD]
    absent = {from_us(each.start_us): why for each, why in ask_sources(bound, intervals_of(unread)).items()}
    return [
        replace(one, there=False, reason=absent[one.interval_start]) if one.interval_start in absent else one
        for one in batches
    ]


def _within(batches: list[Outdated], read: Collection[datetime], most: int) -> list[Outdated]:
    """The batches, of which more than so many that were read before are left as they are."""
    again = [one for one in batches if one.there and not one.purged and one.interval_start in read]
    if len(again) <= most:
        return batches
    why = f"; {len(again):,} changed, and max_changed={most} of limits allows fewer: name them with --end"
    return [replace(one, reason=one.reason + why, there=False) if one in again else one for one in batches]


def parted(
    batches: Sequence[Outdated], *, allow_missing: bool = False
) -> tuple[list[Outdated], list[Outdated]]:
    """The batches to read, and the batches that stay as they are: no file has their rows any more, or yet."""
    parts: tuple[list[Outdated], list[Outdated]] = ([], [])
    for one in batches:
        parts[not one.there or (one.purged and not allow_missing)].append(one)
    return parts


def intervals_of(batches: Sequence[Outdated]) -> list[Interval]:
    """The intervals of batches."""
    return [
        Interval(instant_us(one.interval_start, "start"), instant_us(one.interval_end, "end"))
        for one in batches
    ]


def cost_of(
    pipeline: Pipeline, root: AnyPath, batches: Sequence[Outdated], *, allow_missing: bool = False
) -> tuple[Mapping[datetime, int], float | None]:
    """Start of each batch -> the bytes that it is read from; and about how many seconds a run over all of
    them takes, as the newest batches did; None where that cannot be said.
    """
    bound = bind(pipeline, root)
    files = inputs(bound, intervals_of(batches), allow_missing=allow_missing).files
    sizes = {from_us(each.start_us): sum(file.size for file in files[each]) for each in files}
    newest = read_everywhere(bound).start_us[-_RECENT:].tolist()
    if not newest:
        return sizes, None
    columns = ["recorded_at", "seconds", "bytes_read"]
    reports = read_reports(bound.store, columns, "publish", (newest[0], newest[-1]))
    seconds, read = (pc.sum(reports[name]).as_py() for name in ("seconds", "bytes_read"))
    return sizes, sum(sizes.values()) * seconds / read if read else None


def unpublished(pipeline: Pipeline, root: str | AnyPath) -> bool:
    """Whether windows of batches that were read before are not published: a run without batches does that."""
    return any(len(each.work.positions) for each in pending_windows(bind(pipeline, root), ()))
