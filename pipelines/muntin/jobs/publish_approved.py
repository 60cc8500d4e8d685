"""Publish despite a failed suite, without Airflow: a person names the verdict, and what it holds is published
as it was staged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, StateError
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.held import held_windows, unknown
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.records.approvals import Approval
from muntin.jobs.records.attempts import begun, forget
from muntin.jobs.records.costs import metered
from muntin.jobs.records.verdicts import note_despite, recorded_verdicts
from muntin.jobs.run import concluded
from muntin.jobs.state.state_folders import bind_existing
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.records.reports import RunReport
    from muntin.tasks import Runner


def publish_approved(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    verdict: str,
    by: str,
    reason: str,
    spark: SparkSession | str | Runner | None = None,
    progress: Callable[[str], None] | None = None,
) -> RunReport:
    """Publish the windows that a suite holds, exactly as they were when it failed. No source is read.

    If another run publishes meanwhile, the windows are finalized and validated again; then the approval
    counts only if the verdict is the same. `verdict`: its name, as the failed run, `muntin status` and
    `muntin publish` tell it. `by`, `reason`: who lets them be published, and why; both must be given, and are
    in the report for good. `spark`: who runs tasks, as `run` takes it. `progress`: called with the name of
    each step.
    """
    approval = Approval(verdict, by.strip(), reason.strip())
    if not approval.by or not approval.reason:
        raise DefinitionError(
            "publish despite a failed suite: say who and why, as --reason 'the sensor was down, known to"
            " readers'"
        )
    bound = bind_existing(pipeline, root)
    every = held_windows(bound)
    held = next((each for each in every if each.name == verdict), None)
    if held is None:
        raise StateError(unknown(verdict, every))
    note_despite(bound.folder, held.reports, approval)  # first: whatever ends this, the approval is known
    quality = tuple(each["report"] for each in recorded_verdicts(bound, held.staged.folder).values())
    intervals = [Interval(start, pipeline.intervals.after(start)) for start in held.starts]
    with metered() as meter, runner_for(spark, needed=spark_needed(pipeline)) as runner:
        finished = finish(
            bound,
            runner,
            intervals,
            validate=True,
            tell=progress or (lambda _: None),
            approval=approval,
            staged=(held.staged, quality),
        )
        report = concluded(bound, runner, intervals, finished, meter)
    forget(bound.folder, begun(verdict, intervals, "publish"))
    return report
