"""The steps of a run, in the one order that the command, Airflow's tasks, an approval and a rebuild share.

check      the definition fits what is there (`muntin.jobs.check`); nothing is written
read       states of the batches, and of the batches for which something has changed
finish     finalize, validate, publish (`muntin.jobs.publish.finish`): in Airflow a task each
conclude   reports of what was published; then sinks are sent to
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from muntin.definition.schedule import Interval
from muntin.errors import MuntinError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.inputs.changed_past import changed_past
from muntin.jobs.inputs.inputs import with_dimensions
from muntin.jobs.publish.finish import Finished
from muntin.jobs.published.as_defined import copies
from muntin.jobs.records import metrics
from muntin.jobs.records.approvals import with_approvals
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.costs import Cost
from muntin.jobs.records.metrics import Metric
from muntin.jobs.records.reports import Accumulated, BatchReport
from muntin.jobs.records.reports_table import record_accumulated, record_published, utc_now
from muntin.jobs.state.bound import Bound
from muntin.tasks import Runner

Record = Callable[[Callable[[], Sequence[Metric]]], None]


@dataclass(frozen=True, slots=True)
class BatchesRead:
    """The result of the step read.

    Attributes:
        bound: the pipeline state, with the dimensions as they were read.
        intervals: of all batches that were read, in order: those asked for, and those for which something has
            changed.
        batches: what was read of each.
        changed: start of a batch -> whether its source is another than at the last run.
    """

    bound: Bound
    intervals: Sequence[Interval]
    batches: Sequence[Accumulated]
    changed: Mapping[int, bool]


def read(
    bound: Bound,
    runner: Runner,
    intervals: Sequence[Interval],
    *,
    allow_missing: bool = False,
    unread: bool = False,
    named: bool = False,
    begun: Callable[[Sequence[Interval]], None] = lambda _: None,
    record: Record = metrics.record,
) -> BatchesRead:
    """Read batches into states, and the batches for which a source, a dimension or the definition has
    changed.

    `allow_missing`: a batch without files is empty. `unread`: batches of an upstream that were never read
    count as changed. `named`: somebody named the batches, so that functions are asked for their rows again.
    `begun`: called with all batches before the first is read. `record`: takes the metrics of the step.
    """
    bound = replace(bound, anew=frozenset(each.start_us for each in intervals if named))
    # first: what earlier definitions read may have met rows that are others by now
    if bound.others:
        from muntin.jobs.accumulate.earlier_state import adopt

        adopt(bound)
    past = changed_past(bound, intervals, utc_now(), unread=unread)
    wanted = sorted({*intervals, *(() if past.left else past.why)})
    begun(wanted)
    with_rows = with_dimensions(bound, written=True)
    try:
        batches = accumulate(with_rows, runner, wanted, allow_missing=allow_missing)
    except MuntinError as wrong:
        if not intervals or len(wanted) == len(intervals):
            raise
        past, wanted = past.without(wrong), sorted(intervals)  # what is new does not wait for what is old
        batches = accumulate(with_rows, runner, wanted, allow_missing=allow_missing)
    changed = record_accumulated(with_rows.store, batches, utc_now())
    past.remember(with_rows, utc_now())
    record(lambda: metrics.of_reading(bound.pipeline.name, batches))
    return BatchesRead(with_rows, wanted, batches, changed)


def conclude(
    bound: Bound,
    intervals: Sequence[Interval],
    finished: Finished,
    cost: Cost,
    *,
    changed: Mapping[int, bool] | None = None,
    record: Record = metrics.record,
) -> list[BatchReport]:
    """Write down the reports of a run's batches, and of batches that waited and are published by it; in
    order.

    `intervals`: the run's own batches. `changed`: as `BatchesRead` has it. `record`: takes the metrics of the
    step.
    """
    own = [interval.start_us for interval in intervals]
    starts = sorted(
        {*own, *(start for each in finished.published.values() for start in each), *finished.said}
    )
    batches = [Interval(start, bound.pipeline.intervals.after(start)) for start in starts]
    reports = with_approvals(
        bound.store, batch_reports(bound, batches, changed), finished.published, finished.said
    )
    record_published(bound.store, reports, utc_now(), cost, copies(bound))
    record(lambda: metrics.of_publishing(bound.pipeline.name, reports, own, finished.published))
    return reports
