"""The facts of a run for its alerts, from its reports, its error and the tables of its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.instants import BEFORE_ALL, instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.alerts.facts import Batch, Hole, Run
from muntin.jobs.inputs.changed_past import unsettled
from muntin.jobs.published.window_tables import published as published_windows
from muntin.jobs.records.attempts import first_line
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.forgotten import forgotten
from muntin.quality.suite import ExpectationsFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.extensions.alerts.declaration import Alerts
    from muntin.jobs.published.changes import Changes
    from muntin.jobs.records.reports import BatchReport, RunReport
    from muntin.jobs.state.bound import Bound

_MOST = 1000


def ended_well(
    bound: Bound,
    intervals: Sequence[Interval],
    reports: Iterable[BatchReport],
    *,
    quality: Iterable[Mapping[str, Any]],
    published: Mapping[str, Sequence[int]],
    missing: Iterable[tuple[int, int]],
    link: str,
    approved: Iterable[Mapping[str, Any] | None] = (),
    revised: Iterable[Mapping[str, Any]] = (),
) -> Run:
    """The facts of a run that published, or found nothing to publish.

    `approved`: approvals that no report names. `revised`: as `revisions` gives it.
    """
    whole, reports = spanned(intervals), list(reports)
    batches = tuple(_batch(report) for report in reports)
    approvals = [each for each in (*approved, *(report.despite for report in reports)) if each]
    return Run(
        bound.pipeline.name,
        whole,
        batches,
        tuple(quality),
        published=published,
        missing=tuple(_hole(bound, low, high, max(whole.end_us, high)) for low, high in missing),
        before=_before(bound, batches),
        link=link,
        unforgotten=len(forgotten(bound.home).open),
        unsettled=tuple(unsettled(bound.folder, waiting=False)),
        revised=tuple(revised),
        approved=tuple({each["verdict"]: each for each in approvals}.values()),
    )


def revisions(
    bound: Bound, changed: Mapping[str, Sequence[Changes]], reports: Sequence[BatchReport]
) -> list[dict[str, Any]]:
    """Revisions of published windows by more than the definition lets values move, as JSON has them.

    `changed`: window -> its published windows that the run changed. `reports`: of the batches that it read.
    """
    alerts: Alerts | None = bound.alerts  # type: ignore[assignment]  # of this kind
    if alerts is None or not alerts.revised:
        return []
    from muntin.extensions.alerts.moves import moved

    return [*moved(alerts.revised, changed, bound.pipeline.results, reports, alerts.mask)]


def of_report(bound: Bound, intervals: Sequence[Interval], report: RunReport, *, link: str) -> Run:
    """The facts of a run that went well, from its report."""
    return ended_well(
        bound,
        intervals,
        report.batches,
        quality=report.quality,
        published={
            name: [instant_us(start, "start") for start in starts]
            for name, starts in report.published.items()
        },
        missing=[(instant_us(low, "start"), instant_us(high, "end")) for low, high in report.waiting_for],
        link=link,
        revised=revisions(bound, report.changed, report.batches),
    )


def failed(bound: Bound, intervals: Sequence[Interval], wrong: BaseException, *, link: str) -> Run:
    """The facts of a run that raised. The table of reports has what it read before."""
    quality = (
        tuple(report.to_dict() for report in wrong.reports) if isinstance(wrong, ExpectationsFailed) else ()
    )
    return unpublished(bound, intervals, quality, failure=None if quality else first_line(wrong), link=link)


def unpublished(
    bound: Bound,
    intervals: Sequence[Interval],
    quality: Sequence[Mapping[str, Any]],
    *,
    failure: str | None = None,
    link: str,
) -> Run:
    """The facts of a run that has published nothing: of reports on windows that a suite holds, or of a
    failure.
    """
    report_of_batch = last_accumulated(bound.store, intervals)
    batches = tuple(
        Batch(
            each,
            report_of_batch[each.start_us]["rows_read"],
            report_of_batch[each.start_us]["rows_quarantined"],
        )
        for each in intervals
        if each.start_us in report_of_batch
    )
    ledgers = [published_windows(bound.store, name).ledger for name in bound.windows]
    watermarks_us = [
        int(ledger.entries.watermark_us.max()) for ledger in ledgers if ledger and len(ledger.entries)
    ]
    return Run(
        bound.pipeline.name,
        spanned(intervals),
        batches,
        tuple(quality),
        failure=failure,
        published=None,
        before=_before(bound, batches),
        stays_us=max(
            (watermark_us for watermark_us in watermarks_us if watermark_us > BEFORE_ALL // 2), default=None
        ),
        link=link,
        unforgotten=len(forgotten(bound.home).open),
    )


def spanned(intervals: Sequence[Interval]) -> Interval:
    """The interval from the first start to the last end."""
    return Interval(min(each.start_us for each in intervals), max(each.end_us for each in intervals))


def _batch(report: BatchReport) -> Batch:
    interval = Interval(instant_us(report.interval_start, "start"), instant_us(report.interval_end, "end"))
    return Batch(
        interval,
        report.rows_read,
        report.rows_quarantined,
        report.rows_late if report.watermark else None,
        report.refusals,
    )


def _before(bound: Bound, batches: Sequence[Batch]) -> tuple[tuple[int, int], ...]:
    """The rows of the batches before the first, if a batch is empty and that is asked."""
    alerts: Alerts | None = bound.alerts  # type: ignore[assignment]  # of this kind
    count = alerts.empty_after if alerts else None
    if not count or all(batch.read for batch in batches):
        return ()
    first = min(batch.interval for batch in batches)
    length = first.end_us - first.start_us
    low = first.start_us - 4 * count * length  # a hole or two, or months of unequal length, may lie between
    report_of_batch = last_accumulated(
        bound.store, [Interval(low, low + length), Interval(first.start_us - length, first.start_us)]
    )
    return tuple(
        (start, report["rows_read"]) for start, report in report_of_batch.items() if start < first.start_us
    )


def _hole(bound: Bound, low: int, high: int, end_us: int) -> Hole:
    """A missing stretch, and how many intervals after its first have ended, counted up to `_MOST`."""
    schedule = bound.pipeline.intervals
    if schedule.step_us:
        return Hole(Interval(low, high), max(0, (end_us - low) // schedule.step_us - 1))
    border, age = schedule.after(low), 0
    while border < end_us and age < _MOST:
        border, age = schedule.after(border), age + 1
    return Hole(Interval(low, high), age)
