"""Run a pipeline without Airflow: the same steps, in the same order, as the tasks of its DAG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us, instant_us
from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.jobs import metrics, telemetry
from muntin.jobs.adoption import adopt
from muntin.jobs.bound import Bound, bind
from muntin.jobs.news import news
from muntin.jobs.promotion import lacking
from muntin.jobs.reports import RunReport
from muntin.jobs.reports_table import record_accumulated, record_published, utc_now
from muntin.jobs.run.accumulate import accumulate
from muntin.jobs.run.batch_reports import batch_reports
from muntin.jobs.run.check import check
from muntin.jobs.run.finalize import finalize
from muntin.jobs.run.publish import publish
from muntin.jobs.run.validate import validate_staged
from muntin.jobs.sending.send import after_run
from muntin.jobs.spark_needed import spark_needed
from muntin.jobs.upkeep.rebuild import by_itself, left_behind
from muntin.store.retries import after_conflicts
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.changes import Changes
    from muntin.jobs.reports import BatchReport
    from muntin.store.store import Store
    from muntin.tasks import Runner

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Finished:
    """What finalize, validate and publish did.

    Attributes:
        published: window -> starts of the batches whose windows were published.
        missing: intervals (start, end) that accumulated batches wait for.
        quality: the reports of the validation.
        remarks: what was lost or damaged and is derived again, for people.
        changed: window -> which published windows changed, a part for each commit.
        promoted: windows of a changed definition that took the place of those that readers know.
    """

    published: Mapping[str, tuple[int, ...]]
    missing: tuple[tuple[int, int], ...]
    quality: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Changes, ...]] = field(default_factory=dict)
    promoted: tuple[str, ...] = ()


def run(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    start: datetime,
    end: datetime,
    spark: SparkSession | str | Runner | None = None,
    validate: bool = True,
    forget: bool = False,
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
    promoting: bool = True,
) -> RunReport:
    """Accumulate, finalize, validate and publish every batch of `[start, end)`, in bulk.

    The result equals running the batches one by one, in order; the number of jobs does not grow with their
    number. Running a range again re-reads its source and replaces those batches.

    Args:
        pipeline: the definition.
        root: folder that state of all pipelines lives below.
        start: a border of the schedule, an aware datetime.
        end: the border of the schedule where the run ends, an aware datetime.
        spark: a session, classic or Connect; an address such as "local[*]", "spark://...", "sc://..."; what `muntin.tasks` offers. None:
            the active session of the process, else the Spark that SPARK_REMOTE names, else a local Spark if the definition needs one,
            else this process.
        validate: whether expectations guard what is published.
        forget: whether a batch without files is empty, whatever was read of it before: its rows go out of published windows.
        progress: called with the name of each step as it begins.
        store: another implementation of `Store`.
        promoting: whether the windows of a changed definition take the place of those that readers know, once they are complete.

    Raises:
        DefinitionError: start or end is no border of the schedule, or the definition does not fit the source.
        SourceError: the source cannot be read; or files are gone of batches that rows were read of, and `forget` is false.
        StateError: the state cannot be used, or the definition is superseded.
        ExpectationsError: a critical expectation failed; nothing was published.
    """
    tell = progress or (lambda _: None)
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    bound = bind(pipeline, root, store=store)
    found = news(bound)
    intervals = sorted({*intervals, *found.intervals, *by_itself(pipeline, bound.root)})
    check(bound, intervals, validate=validate, forget=forget)
    bound = bind(pipeline, root, store=store, claim=True)
    adopt(bound)
    with runner_for(spark, needed=spark_needed(pipeline)) as runner:
        tell("accumulate")
        done = accumulate(bound, runner, intervals, forget=forget)
        changed = record_accumulated(bound.store, done, utc_now())
        found.remember(bound)
        telemetry.record(lambda: metrics.of_reading(pipeline.name, done))
        finished = finish(bound, runner, intervals, validate=validate, tell=tell, promoting=promoting)
        batches = batch_reports(bound, intervals, changed)
        record_published(bound.store, batches, utc_now())
        telemetry.record(lambda: _published_metrics(bound, batches, finished))
        sent = after_run(bound, runner.spark)
    return RunReport(
        tuple(batches),
        tuple((from_us(a), from_us(b)) for a, b in finished.missing),
        {name: tuple(map(from_us, starts)) for name, starts in finished.published.items()},
        finished.quality,
        left_behind(pipeline, root),
        finished.remarks,
        finished.changed,
        finished.promoted,
        tuple(lacking(bound)),
        schema_changes=tuple(line for one in done for line in one.schema_changes),
        sinks=sent,
    )


def _published_metrics(bound: Bound, batches: Sequence[BatchReport], finished: Finished) -> list[metrics.Metric]:
    """Those of the whole run; batches of earlier runs that waited for it count too."""
    own = [instant_us(report.interval_start, "start") for report in batches]
    waited = sorted({start for starts in finished.published.values() for start in starts} - {*own})
    after = bound.pipeline.intervals.after
    reports = [*batches, *batch_reports(bound, [Interval(start, after(start)) for start in waited])]
    return metrics.of_publishing(bound, reports, own, finished.published, instant_us(utc_now(), "now"))


def finish(
    bound: Bound,
    runner: Runner,
    intervals: Sequence[Interval],
    *,
    validate: bool,
    tell: Callable[[str], None],
    promoting: bool = True,
    again: bool = False,
) -> Finished:
    """Finalize, validate, publish; once more from finalize on if another run published in between. `promoting`, `again`: see `publish`.

    Raises:
        ConflictError: other runs published in between every time.
        ExpectationsError: a critical expectation failed.
    """
    published_starts: dict[str, tuple[int, ...]] = {}
    changes: dict[str, tuple[Changes, ...]] = {}

    def committed(window: str, starts: Sequence[int]) -> None:
        published_starts[window] = tuple(sorted({*published_starts.get(window, ()), *starts}))

    def changed(window: str, found: Changes) -> None:
        changes[window] = (*changes.get(window, ()), found)

    def attempted() -> Finished:
        tell("finalize")
        staged = finalize(bound, runner, [interval.start_us for interval in intervals], again=again)
        quality: tuple[Mapping[str, Any], ...] = ()
        if validate and bound.pipeline.expectations and staged.windows:
            tell("validate")
            quality = tuple(validate_staged(bound, runner, staged))
        tell("publish")
        try:
            promoted = publish(bound, staged, committed=committed, validated=validate, changed=changed, promoting=promoting, again=again)
        except ConflictError:
            bound.store.discard(staged.folder)
            raise
        missing = tuple((low, high) for low, high in staged.missing)
        return Finished(published_starts, missing, quality, tuple(staged.remarks), changes, tuple(promoted))

    given_up = f"{bound.pipeline.name}: other runs keep publishing; run again when they are done"
    return after_conflicts(_TRIES, given_up)(attempted)
