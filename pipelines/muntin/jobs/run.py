"""Run a pipeline without Airflow: the same steps, in the same order, as the tasks of its DAG."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.instants import from_us, instant_us
from muntin.jobs import steps
from muntin.jobs.check import check
from muntin.jobs.inputs.changed_past import unsettled
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.published.promotion import lacking
from muntin.jobs.records.attempts import attempted
from muntin.jobs.records.costs import metered
from muntin.jobs.records.metrics import of_state, record
from muntin.jobs.records.reports import RunReport
from muntin.jobs.records.reports_table import now_us, utc_now
from muntin.jobs.state.bound import Bound, bind, claimed
from muntin.jobs.state.given_spans import tables_read
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.publish.finish import Finished
    from muntin.jobs.records.costs import Meter
    from muntin.store.store import Store
    from muntin.tasks import Runner


def run(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    start: datetime | None = None,
    end: datetime | None = None,
    spark: SparkSession | str | Runner | None = None,
    validate: bool = True,
    allow_missing: bool = False,
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
    promoting: bool = True,
) -> RunReport:
    """Accumulate, finalize, validate and publish every batch of `[start, end)`, in bulk.

    The result equals running the batches one by one, in order; the number of jobs does not grow with their
    number. Running a range again re-reads its source and replaces its batches.

    Without `start` and `end` all that there is to do up to now: batches that were never read, whose source
    has changed, or that an earlier definition had read, and windows that are not published yet. With one of
    the two, what there is to do from `start` on, or before `end`.

    Args:
        pipeline: the definition.
        root: folder that state of all pipelines lives below.
        start: a border of the schedule, an aware datetime.
        end: the border of the schedule where the run ends, an aware datetime.
        spark: a session, classic or Connect; an address such as "local[*]", "spark://...", "sc://..."; what
            `muntin.tasks` offers. None: the active session of the process, else the Spark that SPARK_REMOTE
            names, else a local Spark if the definition needs one, else this process.
        validate: whether expectations guard what is published.
        allow_missing: whether a batch without files is empty, whatever was read of it before: its rows go out
            of published windows.
        progress: called with the name of each step as it begins.
        store: another implementation of `Store`.
        promoting: whether the windows of a changed definition are promoted once they are complete.

    Raises:
        DefinitionError: start or end is no border of the schedule, or the definition does not fit the source.
        SourceError: the source cannot be read; or files are gone of batches that rows were read of, and
            `allow_missing` is false.
        StateError: the state cannot be used, or the definition is superseded.
        ExpectationsError: a critical expectation failed; nothing was published.
    """
    if start is None or end is None:
        from muntin.jobs.upkeep.to_do import intervals_of, parted, to_do, unpublished

        batches = to_do(pipeline, root=root, now=utc_now(), start=start, end=end, ask=True)
        intervals = intervals_of(parted(batches, allow_missing=allow_missing)[0])
        if not intervals and not unpublished(pipeline, root):
            return RunReport(())
    else:
        intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    return run_batches(
        pipeline,
        root=root,
        intervals=intervals,
        named=start is not None and end is not None,
        spark=spark,
        validate=validate,
        allow_missing=allow_missing,
        progress=progress,
        store=store,
        promoting=promoting,
    )


def run_batches(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    intervals: Sequence[Interval],
    spark: SparkSession | str | Runner | None = None,
    validate: bool = True,
    allow_missing: bool = False,
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
    promoting: bool = True,
    named: bool = False,
) -> RunReport:
    """Run some batches, neighbours or not, and what else has changed, as `run` does. `named`: as of
    `steps.read`.
    """
    tell = progress or (lambda _: None)
    bound = bind(pipeline, root, store=store)
    with _states_measured(bound), attempted(bound.folder, intervals) as attempt, metered() as meter:

        def begin(step: str) -> None:
            attempt.step(step)
            tell(step)

        check(bound, intervals, validate=validate, allow_missing=allow_missing)
        bound = claimed(bound)
        attempt.state = bound.folder
        with runner_for(spark, needed=spark_needed(pipeline, validate=validate)) as runner:
            begin("accumulate")
            batches_read = steps.read(
                bound, runner, intervals, allow_missing=allow_missing, named=named, begun=attempt.reads
            )
            meter.bytes_read = sum(file.bytes for batch in batches_read.batches for file in batch.manifest)
            finished = finish(
                batches_read.bound,
                runner,
                batches_read.intervals,
                validate=validate,
                tell=begin,
                promoting=promoting,
            )
            sending = lambda: attempt.step("send")  # noqa: E731
            report = concluded(
                batches_read.bound,
                runner,
                batches_read.intervals,
                finished,
                meter,
                changed=batches_read.changed,
                sending=sending,
            )
    lines = tuple(line for batch in batches_read.batches for line in batch.schema_changes)
    return replace(report, schema_changes=lines)


def concluded(
    bound: Bound,
    runner: Runner,
    intervals: Sequence[Interval],
    finished: Finished,
    meter: Meter,
    *,
    changed: Mapping[int, bool] | None = None,
    sending: Callable[[], None] = lambda: None,
) -> RunReport:
    """Write down what was published, send it to the sinks, and report it. `sending`: called before sinks are
    sent to.

    `changed`: start of a batch -> whether its source is another than at the last run.
    """
    own = {from_us(interval.start_us) for interval in intervals}
    reports = steps.conclude(bound, intervals, finished, meter.cost, changed=changed)
    sending()
    sent, blocked = _sent(bound, runner)
    return RunReport(
        tuple(report for report in reports if report.interval_start in own),
        tuple((from_us(a), from_us(b)) for a, b in finished.missing),
        {name: tuple(map(from_us, starts)) for name, starts in finished.published.items()},
        finished.quality,
        _left_behind(bound),
        finished.remarks,
        finished.changed,
        finished.promoted,
        tuple(lacking(bound)),
        sinks=sent,
        blocked_sinks=blocked,
        tables=tables_read(bound),
        unsettled=tuple(unsettled(bound.folder)),
    )


def _sent(bound: Bound, runner: Runner) -> tuple[tuple[str, ...], int]:
    """A line for each sink that got something or lacks something, and how many need a person."""
    if not bound.sinks:
        return (), 0
    from muntin.jobs.sending.send import after_run, reported

    sent = after_run(bound, runner.spark)
    return reported(sent), sum(one.needs_a_person for one in sent)


def _left_behind(bound: Bound) -> int:
    """The batches that only earlier definitions read, as `left_behind` counts them."""
    if not bound.others:
        return 0
    from muntin.jobs.upkeep.rebuild import left_behind

    return left_behind(bound)


@contextmanager
def _states_measured(bound: Bound) -> Iterator[None]:
    """Send the metrics of the state once a run has ended, well or not."""
    try:
        yield
    finally:
        if bound.folder.is_dir():
            record(lambda: of_state(bound, now_us()))
