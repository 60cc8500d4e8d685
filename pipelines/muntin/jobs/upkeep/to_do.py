"""The work that there is for a pipeline, up to now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.instants import from_us, instant_us
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.records.reports import RunReport
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.outdated import outdated, versions
from muntin.jobs.upkeep.rebuild import left_behind, to_rebuild

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.upkeep.outdated import Outdated


def to_do(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    now: datetime,
    start: datetime | None = None,
    end: datetime | None = None,
) -> list[Outdated]:
    """The batches, from the pipeline's start to the last whole interval before `now`, that differ from their
    source, and what an earlier definition had read of them; in order. `start`, `end`: the batches between.

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
        for one in outdated(pipeline, root=root, start=first, end=last)
    ]
    if batches and not any(one.there or one.purged for one in batches) and not versions(bound):
        more = f" ({many(len(batches) - 1, 'more batch')} likewise)" if len(batches) > 1 else ""
        raise SourceError(f"{batches[0].reason}{more}")
    return batches


def parted(
    batches: Sequence[Outdated], *, allow_missing: bool = False
) -> tuple[list[Outdated], list[Outdated]]:
    """The batches to read, and the batches that stay as they are: no file has their rows any more, or yet."""
    parts: tuple[list[Outdated], list[Outdated]] = ([], [])
    for one in batches:
        parts[not one.there or (one.purged and not allow_missing)].append(one)
    return parts


def ranges(
    pipeline: Pipeline, root: str | AnyPath, batches: Sequence[Outdated], *, unpublished: bool
) -> list[tuple[datetime, datetime]]:
    """The batches as ranges of neighbours. `unpublished`: without batches an empty range, if windows are not
    published of batches that were read before: a run of it does that.
    """
    spans = [*_neighbours(batches)]
    if spans or not unpublished:
        return spans
    start = from_us(pipeline.intervals.first_border_us)
    pending = pending_windows(bind(pipeline, root), ())
    return [(start, start)] if any(len(each.work.positions) for each in pending) else []


def _neighbours(batches: Sequence[Outdated]) -> Iterator[tuple[datetime, datetime]]:
    first = 0
    for at, batch in enumerate(batches):
        if at + 1 == len(batches) or batches[at + 1].interval_start != batch.interval_end:
            yield batches[first].interval_start, batch.interval_end
            first = at + 1


def joined(reports: Sequence[RunReport]) -> RunReport:
    """One report on several ranges."""
    if not reports:
        return RunReport(())
    windows = {name for report in reports for name in report.published}
    return RunReport(
        tuple(batch for report in reports for batch in report.batches),
        reports[-1].waiting_for,
        {
            name: tuple(sorted({at for report in reports for at in report.published.get(name, ())}))
            for name in sorted(windows)
        },
        tuple(one for report in reports for one in report.quality),
        remarks=tuple(one for report in reports for one in report.remarks),
        promoted=tuple(sorted({name for report in reports for name in report.promoted})),
        left_behind=reports[-1].left_behind,
        candidates=reports[-1].candidates,
        changed={
            name: tuple(part for report in reports for part in report.changed.get(name, ()))
            for name in sorted(windows)
        },
        schema_changes=tuple(line for report in reports for line in report.schema_changes),
        tables={name: table for report in reports for name, table in report.tables.items()},
        sinks=tuple(line for report in reports for line in report.sinks),
        blocked_sinks=reports[-1].blocked_sinks,
    )
