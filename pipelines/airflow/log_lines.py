"""What the tasks say in their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipelines.definition.amounts import many
from pipelines.definition.instants import spell_instant
from pipelines.definition.schedule import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.jobs.reports import Accumulated, BatchReport
    from pipelines.jobs.staged_windows import Staged


def accumulated(batch: Accumulated, *, changed: bool) -> list[str]:
    """What was read of the source."""
    size = sum(file.bytes for file in batch.manifest)
    source = f"{many(len(batch.manifest), 'file')} ({size:,} bytes)"
    left_out = batch.read - batch.taken - batch.refused
    counts = f"{batch.taken:,} accepted, {batch.refused:,} quarantined, {left_out:,} left out by the filter"
    lines = [f"batch {batch.interval}: {many(batch.read, 'row')} read from {source}: {counts}"]
    lines += [f"  {file.path}: {many(file.rows, 'row')}, {many(file.bytes, 'byte')}" for file in batch.manifest[:20]]
    if changed:
        lines.append("the source is not what the last run of this batch read: what depends on it is derived anew")
    return lines


def staged(found: Staged, interval: Interval) -> list[str]:
    """What must be published, and what history waits for."""
    lines = [f"window {each.window}: {rows(each.files):,} windows staged, for {batches(each.starts)}" for each in found.windows]
    if not found.windows:
        lines = ["no window changed since it was published: nothing is staged"]
    return lines + waiting(interval, found.missing)


def validated(reports: Sequence[Mapping[str, Any]], found: Staged) -> list[str]:
    """The verdict on each window; for those with warnings, which."""
    lines = [line for report in reports for line in _verdict(report)]
    unguarded = {each.window for each in found.windows} - {report["window"] for report in reports}
    return [*lines, *(f"window {name!r}: no expectations" for name in sorted(unguarded))]


def _verdict(report: Mapping[str, Any]) -> list[str]:
    from pipelines.quality.report_values import table

    lines = [f"window {report['window']!r} {report['verdict']}"]
    for check in (check for check in report["checks"] if check["success"] is False):
        lines.append(f"  {check['severity']}: {check['type']}({check['column'] or ''}): {_found(check)}")
        lines += [f"    {line}" for line in table(check["failing_rows"])]
    return lines


def _found(check: Mapping[str, Any]) -> str:
    if check["error"]:
        return f"could not run: {check['error']}"
    return many(check["unexpected_count"], "row") if check["unexpected_count"] else f"observed {check['observed_value']}"


def published(interval: Interval, report: BatchReport, done: Mapping[str, Sequence[int]], missing: Iterable[Sequence[int]]) -> list[str]:
    """What readers see now, what became of the batch, what is missing."""
    lines = [f"published window {window}: {batches(starts)}" for window, starts in done.items()] or ["nothing to publish"]
    if report.watermark is None:
        return [*lines, f"batch {interval}: accumulated, not final yet", *waiting(interval, missing)]
    closed = ", ".join(f"{count:,} of {window}" for window, count in report.windows_closed.items())
    lines.append(
        f"batch {interval}: closed {closed} windows; {many(report.rows_late, 'row')} late; watermark {report.watermark:%Y-%m-%d %H:%M} UTC"
    )
    return lines + waiting(interval, missing)


def waiting(interval: Interval, missing: Iterable[Sequence[int]]) -> list[str]:
    """The holes; those before the run's own interval keep it from being published."""
    holes = [Interval(low, high) for low, high in missing]
    if not holes:
        return []
    what = "this batch waits for" if any(hole < interval for hole in holes) else "later batches wait for"
    return [f"{what} {', '.join(map(str, holes))}: run it, as by a backfill; the run that fills the hole publishes for all"]


def left_behind(count: int) -> str:
    """What a changed definition has not read yet."""
    return f"an earlier definition had read {many(count, 'batch')} that this one has not: muntin rebuild reads them"


def rows(files: Iterable[Mapping[str, Any]]) -> int:
    """Windows in staged files."""
    return sum(file["rows"] for file in files)


def batches(starts: Sequence[int]) -> str:
    """`batch 2013-01-01`, `3 batches 2013-01-01 .. 2013-01-03`."""
    first, last = spell_instant(min(starts)), spell_instant(max(starts))
    return f"batch {first}" if len(starts) == 1 else f"{len(starts)} batches {first} .. {last}"
