"""The last step of a run: its windows are published; where another run came first, they are finalized and validated again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us
from muntin.errors import ConflictError
from muntin.extensions.airflow import log_lines
from muntin.extensions.airflow.assets.events import announced, spelled
from muntin.extensions.airflow.one_definition import check_same
from muntin.extensions.airflow.sending import sent_to_sinks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.extensions.airflow.place import Place
    from muntin.jobs.published.changes import Changes
    from muntin.jobs.records.announcements import Announcer
    from muntin.jobs.records.approvals import Approval
    from muntin.jobs.records.costs import Cost
    from muntin.jobs.records.metrics import Metric
    from muntin.jobs.records.reports import BatchReport
    from muntin.tasks import Runner

    Published = Mapping[str, Sequence[int]]
    Holes = list[list[int]]
    Quality = Sequence[Mapping[str, Any]]
    Said = Mapping[int, Mapping[str, Any]]

log = logging.getLogger("muntin")


def publish(
    place: Place,
    staged: Mapping[str, Any],
    accumulated: Mapping[str, Any],
    quality: Quality,
    runner: Runner,
    record: Callable[[Callable[[], Sequence[Metric]]], None] = lambda _: None,
    cost: Callable[[], Cost] | None = None,
    partitions: Partitions | None = None,
    answer: Mapping[str, str] | None = None,
    announcer: Announcer | None = None,
) -> dict[str, Any]:
    """Publish the staged windows. If another run published since, finalize and validate again.

    Args:
        place: of the run.
        staged, accumulated, quality: what the earlier tasks returned.
        runner: who runs tasks, for the case that there are any.
        record: called with what works out the metrics of the publication.
        cost: gives what the run has cost so far.
        partitions: what the partition keys of events are, if they have any.
        answer: what the task `ask` returned: the approval of a person to publish despite a failed suite.
        announcer: the run, as other runs know it.

    Returns:
        JSON-able: `report` of the run's own batch, `published`: window -> starts of the published batches, `waiting_for`: missing
        intervals, `quality`: window -> its verdict, `announced`: window -> what to tell of it, which is more than `published` if
        another run published meanwhile or ended before it reported, and less if another run reports it; `reports`: of validation, if
        the definition declares alerts; `sinks`: what became of them, a line each, if it declares sinks.
    """
    from muntin.jobs.records.announcements import begin
    from muntin.jobs.records.approvals import Approval, spelled_approval
    from muntin.jobs.records.metrics import of_publishing
    from muntin.jobs.records.quality_notes import note_despite
    from muntin.jobs.upkeep.rebuild import left_behind

    check_same(place, accumulated)
    begin(place.bound)
    approval = Approval(**answer) if answer else None
    if approval:
        note_despite(place.bound.folder, place.bound.pipeline.expectations, approval)  # first: whatever ends this, it is known
    done, missing, quality, said = _publish(place, staged, quality, runner, approval)
    batches = {place.interval.start_us, *(start for starts in done.values() for start in starts), *said}
    reports = _record(place, sorted(batches), cost, done, said, changed=accumulated["source_changed"])
    record(lambda: of_publishing(place.bound.pipeline.name, reports, [place.interval.start_us], done))
    report = next(report for report in reports if report.interval_start == from_us(place.interval.start_us))
    for line in log_lines.published(place.interval, report, done, missing):
        log.info(line)
    for words in sorted({*map(spelled_approval, said.values())}):
        log.warning("published %s", words)
    if left := left_behind(place.bound):
        log.warning(log_lines.left_behind(left))
    return {
        "report": report.to_dict(),
        "published": {window: spelled(starts) for window, starts in done.items()},
        "announced": announced(place, done, partitions, announcer),
        "waiting_for": [[from_us(low).isoformat(), from_us(high).isoformat()] for low, high in missing],
        "quality": {of_window["window"]: of_window["verdict"] for of_window in quality},
        **({"reports": list(quality)} if place.bound.alerts else {}),
        **({"sinks": sent_to_sinks(place.bound, runner)} if place.bound.sinks else {}),
    }


def _publish(
    place: Place, staged: Mapping[str, Any], quality: Quality, runner: Runner, approval: Approval | None
) -> tuple[Published, Holes, Quality, Said]:
    """The published batches by window, the missing intervals, the reports of validation, and approvals of published batches."""
    from muntin.jobs.publish.publish import publish as commit
    from muntin.jobs.published.promotion import promote_complete
    from muntin.jobs.published.staging_folders import load_staged
    from muntin.jobs.records.approvals import said_of

    done: dict[str, Sequence[int]] = {}
    if staged["folder"] is None:
        _log_promoted(promote_complete(place.bound))
        return done, staged["missing"], quality, {}
    try:
        loaded = load_staged(place.bound.store, staged["folder"])
        promoted = commit(place.bound, loaded, committed=done.__setitem__, changed=_log_changes, approval=approval)
    except ConflictError as wrong:
        log.info("%s", wrong)
        both, missing, judged, said = _again(place, staged["folder"], done, runner, approval)
        return both, missing, judged, {**said_of(approval, quality, done), **said}
    _log_promoted(promoted)
    there = {window.window: window.starts for window in loaded.windows}  # by this try, or by the one before, which was killed
    return done, staged["missing"], quality, said_of(approval, quality, there)


def _log_promoted(windows: Sequence[str]) -> None:
    if windows:
        log.info("promoted: %s: readers know the windows of this definition now", ", ".join(windows))


def _log_changes(window: str, changes: Changes) -> None:
    from muntin.jobs.published.change_lines import change_lines

    for line in change_lines(window, [changes]):
        log.info(line)


def _again(place: Place, folder: str, done: Published, runner: Runner, approval: Approval | None) -> tuple[Published, Holes, Quality, Said]:
    """Finalize, validate and publish again, until no other run publishes in between."""
    from muntin.jobs.publish.finish import finish

    place.bound.store.discard(folder)
    finished = finish(place.bound, runner, [place.interval], validate=True, tell=log.info, approval=approval)
    _log_promoted(finished.promoted)
    for window, parts in finished.changed.items():
        for changes in parts:
            _log_changes(window, changes)
    both = {
        window: tuple(sorted({*done.get(window, ()), *finished.published.get(window, ())})) for window in {**done, **finished.published}
    }
    return both, [list(hole) for hole in finished.missing], finished.quality, finished.said


def _record(
    place: Place, starts: Sequence[int], cost: Callable[[], Cost] | None, done: Published, said: Said, *, changed: bool
) -> list[BatchReport]:
    """Record the reports of these batches, and return them. `said`: of the batches that were published despite a failed suite."""
    from muntin.definition.schedule import Interval
    from muntin.jobs.published.given_tables import copies
    from muntin.jobs.records.approved_reports import with_approvals
    from muntin.jobs.records.batch_reports import batch_reports
    from muntin.jobs.records.costs import Cost
    from muntin.jobs.records.reports_table import record_published, utc_now

    own = place.interval
    intervals = [Interval(start, place.bound.pipeline.intervals.after(start)) for start in starts]
    reports = with_approvals(place.bound.store, batch_reports(place.bound, intervals, {own.start_us: changed}), done, said)
    record_published(place.bound.store, reports, utc_now(), cost() if cost else Cost(), copies(place.bound))
    return reports
