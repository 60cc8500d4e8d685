"""The tasks of a pipeline's DAG. Heavy imports are in the bodies: they are done when a task runs.

A task that Airflow ends (cleared, marked by hand, timed out, taken for dead) stops Spark's jobs and leaves
with a line.

Airflow sends SIGTERM, calls the task's `on_kill`, and waits some seconds before it ends the process for good.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from muntin.extensions.airflow import lineage, publishing, steps
from muntin.extensions.airflow.alerting import callbacks, ending_reported, tell_asked
from muntin.extensions.airflow.assets.events import announcer_of, extras, keys_of
from muntin.extensions.airflow.assets.partitions import emit, window_assets
from muntin.extensions.airflow.imported_ahead import check_libraries
from muntin.extensions.airflow.noting import noted, record
from muntin.extensions.airflow.place import place_of
from muntin.extensions.airflow.spark import RESUMED, runner_of
from muntin.spark.stopping import stop_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from airflow.sdk import TaskGroup

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.extensions.airflow.place import Context, Root
    from muntin.jobs.records.reports import Accumulated

    Around = Callable[..., AbstractContextManager[object]]
log = logging.getLogger("muntin")
STATUS = 143  # as shells tell of SIGTERM
_PATIENCE_S = 5.0


def end_when_killed(context: Context) -> None:
    """A `pre_execute`: from now on the task ends when Airflow says so."""
    context["task"].on_kill = on_kill


def on_kill() -> None:
    """Stop Spark's jobs, say what that means, and leave. While a time limit raises its own error, that goes
    on instead.

    The status is 143, which Airflow tells in a line.
    """
    stopping = Thread(target=stop_jobs, daemon=True)  # the main thread may be in the middle of a call to Java
    stopping.start()
    stopping.join(_PATIENCE_S)
    log.warning("Airflow ended this task; what was committed before is whole; the next run goes on")
    if sys.exc_info()[0] is None:
        sys.exit(STATUS)


def add_tasks(
    group: TaskGroup,
    pipeline: Pipeline,
    *,
    root: Root,
    spark: str | None,
    deferrable: bool = False,
    partitions: Partitions | None = None,
) -> None:
    """Add accumulate, finalize, validate and publish, in this order, to a group; `ask` before publish, where
    the definition asks.

    `spark`: the connection; None: there is no Spark. `deferrable`: whether tasks wait for a remote Spark
    without a worker.
    """
    from airflow.sdk import chain, task

    place, reported = partial(place_of, pipeline, root=root), partial(ending_reported, pipeline, root)
    failing, ending = callbacks(pipeline, root, {**group.dag.default_args, **group.default_args})
    noting, running = partial(noted, place), partial(runner_of, spark, deferrable=deferrable)
    options = {
        "dag": group.dag,
        "task_group": group,
        "multiple_outputs": False,
        "show_return_value_in_logs": False,
        **failing,
    }

    def accumulate(**context: Any) -> dict[str, Any]:  # noqa: ANN401 - Airflow's
        """Read the interval's events into states.

        A definition that does not fit is refused before Spark is looked for.
        """
        with reported(context), noting(context) as now, running(context) as runner:
            at = place(context)
            steps.check(at, group.dag.fileloc if group.dag.dag_id == pipeline.name else None)

            def read(batches: Sequence[Accumulated]) -> None:
                now.meter.bytes_read = sum(file.bytes for batch in batches for file in batch.manifest)
                lineage.accumulated(at.bound, batches, context["task"])

            return steps.accumulate(at, runner, read, record)

    def finalize(accumulated: dict[str, Any], **context: Any) -> dict[str, Any]:  # noqa: ANN401 - Airflow's
        """Stage the windows of all batches that changed."""
        with reported(context), noting(context), running(context) as runner:
            return steps.finalize(place(context), runner, accumulated)

    def validate(staged: dict[str, Any], **context: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - Airflow's
        """Hold the staged windows against their suites."""
        with reported(context), noting(context), running(context) as runner:
            return steps.validate(place(context), runner, staged)

    def publish(
        accumulated: dict[str, Any],
        staged: dict[str, Any],
        quality: list[dict[str, Any]],
        answer: dict[str, str] | None = None,
        **context: Any,  # noqa: ANN401 - Airflow's
    ) -> dict[str, Any]:
        """Commit the staged windows for readers, and emit an asset event per window."""
        at = place(context)
        with reported(context, last=True), noting(context, last=True) as now, running(context) as runner:
            result = publishing.publish(
                at,
                staged,
                accumulated,
                quality,
                runner,
                record,
                lambda: now.cost,
                partitions,
                answer,
                announcer_of(context),
            )
            lineage.published(at.bound, result["published"], context["task"])
            emit(pipeline, context, extras(at, result), keys_of(result))
        return result

    accumulated = task(pre_execute=begin, **options)(accumulate)()
    staged = task(pre_execute=begin, **options)(finalize)(accumulated)
    quality = task(pre_execute=begin, **options)(validate)(staged)
    asked = []
    if pipeline.ask_within_us is not None:
        from muntin.extensions.airflow.asking import ask

        answering, telling = partial(_answering, reported, noting), partial(tell_asked, pipeline, root)
        own = {"dag": group.dag, "task_group": group, **failing}
        asked = [ask(pipeline, place, staged.operator.task_id, answering, telling, **own)]
    commit = task(outlets=window_assets(pipeline), pre_execute=begin, **options, **ending)(publish)
    chain(
        accumulated,
        staged,
        quality,
        *asked,
        commit(accumulated, staged, quality, *(each.output for each in asked)),
    )


@contextmanager
def _answering(reported: Around, noting: Around, context: Context) -> Iterator[None]:
    """Around what an answer leads to: where it ends the run, that is noted."""
    with reported(context), noting(context, begins=False):
        yield


def begin(context: Context) -> None:
    """A `pre_execute` of every task.

    A task that waited for Spark begins from its start: it does once what it did before, as a retry.
    """
    check_libraries()
    end_when_killed(context)
    task = context["task"]
    setattr(task, RESUMED, lambda again, event=None: task.execute(again))  # noqa: ARG005 - Airflow gives the event of the trigger
