"""The lines that tasks write to their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.instants import spell_instant
from muntin.definition.schedule import Interval, Schedule
from muntin.definition.spelling import many
from muntin.printable import printable
from muntin.quality.report import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.jobs.published.staged_windows import Staged
    from muntin.jobs.records.reports import Accumulated, BatchReport


def accumulated(batch: Accumulated, *, changed: bool) -> list[str]:
    """Lines on the rows that were read of the source."""
    size = sum(file.bytes for file in batch.manifest)
    source = f"{many(len(batch.manifest), 'file')} ({size:,} bytes)"
    of_batch = batch.counts
    counts = f"{of_batch.accepted:,} accepted, {of_batch.quarantined:,} quarantined"
    counts += f", {of_batch.left_out:,} left out by the filter"
    counts += f", {many(of_batch.duplicate, 'duplicate')}" if of_batch.duplicate else ""
    lines = [f"batch {batch.interval}: {many(of_batch.read, 'row')} read from {source}: {counts}"]
    lines += [
        f"  {name}: {many(rows.read, 'row')} read, {rows.accepted:,} accepted"
        for name, rows in batch.sources.items()
    ]
    lines += [
        f"  {printable(file.path)}: {many(file.rows, 'row')}, {many(file.bytes, 'byte')}"
        for file in batch.manifest[:20]
    ]
    lines += [f"{many(batch.hidden, 'file')} passed over: a name begins with _ or ."] if batch.hidden else []
    lines += [f"columns: {printable(line)}" for line in batch.schema_changes]
    if changed:
        lines.append(
            "the source is not what the last run of this batch read: what depends on it is derived anew"
        )
    return lines


def past(batches: Sequence[Accumulated], changed: Mapping[int, bool], own: Interval) -> list[str]:
    """A line on the other batches that were read, if there are any."""
    starts = [each.interval.start_us for each in batches if each.interval != own]
    if not starts:
        return []
    anew = sum(changed[start] for start in starts)
    others = many(len(starts), "other batch")
    return [f"{others} read, {anew:,} of them changed at the source; oldest {spell_instant(starts[0])}"]


def staged(result: Staged, interval: Interval, schedule: Schedule) -> list[str]:
    """Lines on the staged windows, on what was lost or damaged, and on missing intervals."""
    lines = [
        f"window {window.window}: {many(rows(window.files), 'window')} staged,"
        f" for {batches(window.starts, schedule)}"
        for window in result.windows
    ]
    if not result.windows:
        lines = ["no window changed since it was published: nothing is staged"]
    return [*lines, *(f"mended: {remark}" for remark in result.remarks), *waiting(interval, result.missing)]


def validated(reports: Sequence[Mapping[str, Any]], result: Staged) -> list[str]:
    """Lines on the verdict on each window, and on each check that failed."""
    lines = [line for report in reports for line in verdict_lines(report)]
    unguarded = {window.window for window in result.windows} - {report["window"] for report in reports}
    return [*lines, *(f"window {name!r}: no expectations" for name in sorted(unguarded))]


def published(
    interval: Interval,
    report: BatchReport,
    starts_of_window: Mapping[str, Sequence[int]],
    missing: Iterable[Sequence[int]],
    schedule: Schedule,
) -> list[str]:
    """Lines on the published windows, on the counts of the run's own batch, and on missing intervals."""
    lines = [
        f"published window {window}: {batches(starts, schedule)}"
        for window, starts in starts_of_window.items()
    ] or ["nothing to publish"]
    lines += [f"quarantined: {printable(report.refusals)}"] if report.refusals else []
    if report.watermark is None:
        return [*lines, f"batch {interval}: accumulated, not final yet", *waiting(interval, missing)]
    closed = ", ".join(f"{count:,} of {window}" for window, count in report.windows_closed.items())
    corrected = "".join(
        f"; {many(rows, 'row')} corrected {window}" for window, rows in report.rows_correcting.items() if rows
    )
    lines.append(
        f"batch {interval}: closed {closed} windows; {many(report.rows_late, 'row')} late{corrected};"
        f" watermark {report.watermark:%Y-%m-%d %H:%M} UTC"
    )
    return lines + waiting(interval, missing)


def waiting(interval: Interval, missing: Iterable[Sequence[int]]) -> list[str]:
    """A line on the missing intervals. The run's own batch waits for missing intervals before it."""
    holes = [Interval(low, high) for low, high in missing]
    if not holes:
        return []
    what = "this batch waits for" if any(hole < interval for hole in holes) else "later batches wait for"
    return [
        (
            f"{what} {', '.join(map(str, holes))}: run it, as by a backfill; the run that fills the hole"
            " publishes for all"
        )
    ]


def left_behind(count: int) -> str:
    """A line on the batches that a changed definition has not read yet."""
    return (
        f"an earlier definition had read {many(count, 'batch')} that this one has not: muntin run --rebuild"
        " reads them"
    )


def rows(files: Iterable[Mapping[str, Any]]) -> int:
    """The number of windows in staged files."""
    return sum(file["rows"] for file in files)


def batches(starts: Sequence[int], schedule: Schedule) -> str:
    """`1 batch [2013-01-01, 2013-01-02)`, `3 batches [2013-01-01, 2013-01-04)`."""
    return f"{many(len(starts), 'batch')} {schedule.over(starts)}"
