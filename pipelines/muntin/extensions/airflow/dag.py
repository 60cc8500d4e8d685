"""The DAG of a pipeline: accumulate, finalize, validate, publish, with a run per data interval."""

from __future__ import annotations

import sys
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import spell
from muntin.definition.extras import need
from muntin.definition.instants import spell_instant
from muntin.errors import DefinitionError
from muntin.extensions.airflow.assets.partitions import window_asset
from muntin.extensions.airflow.group import fill
from muntin.extensions.airflow.spark import CONNECTION
from muntin.sources.upstream_windows import WindowSource

if TYPE_CHECKING:
    from airflow.sdk import DAG

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.files.paths import AnyPath


def airflow_dag(
    pipeline: Pipeline,
    *,
    root: str | AnyPath | None = None,
    catchup: bool = True,
    max_active_runs: int = 16,
    spark: str | None = CONNECTION,
    deferrable: bool | None = None,
    partitions: Partitions | None = None,
    schedule: Any = None,  # noqa: ANN401 - whatever airflow.sdk.DAG takes
    **options: Any,  # noqa: ANN401 - whatever airflow.sdk.DAG takes
) -> DAG:
    """The DAG of a pipeline, under the pipeline's name. Assign it to a global name in a file of the DAG
    folder.

    A pipeline over the windows of another runs when the windows are published: their asset starts it, so that
    no worker waits. It reads every batch that was published since its last run.

    Args:
        pipeline: the definition.
        root: the folder of the state; None is `MUNTIN_ROOT`, else `state`. A relative path is below the
            project's folder.
        catchup: whether Airflow schedules past intervals automatically. Skipped intervals are missing in the
            history.
        max_active_runs: how many runs may be active at once, not counting backfills.
        spark: the connection that says where Spark is; if it does not exist, Spark is local. None: tasks run
            in Airflow's own worker, without Spark and without Java, for batches that a worker computes in
            seconds.
        deferrable: whether a task waits in the triggerer, without a worker, while a remote Spark (`sc://`)
            does not answer or has no core free; of any other Spark it changes nothing. None: as Airflow's
            `[operators] default_deferrable` says.
        partitions: what the partition keys of the windows' assets are: `by_window()`, `by_batch()`; None:
            events have none.
        schedule: another schedule of the DAG, such as a `PartitionedAssetTimetable`; None: the pipeline's
            own.
        **options: further arguments of `airflow.sdk.DAG`: default_args, tags, end_date,
            on_failure_callback...

    Raises:
        DefinitionError: a schedule whose intervals Airflow cannot have, a root that is an address of no
            object store, or alerts of a silence without a named recipient; `spark=None` where the
            definition needs Spark; or `by_window()` of windows that begin more than 200 times in an interval.
    """
    need("airflow")
    from airflow.sdk import DAG

    dag = DAG(
        dag_id=pipeline.name,
        schedule=schedule or schedule_of(pipeline, catchup=catchup),
        start_date=pipeline.start.astimezone(UTC),
        catchup=catchup,
        max_active_runs=max_active_runs,
        **{"tags": ["muntin"], "doc_md": _described(pipeline), **options},
    )
    dag.fileloc = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - as airflow.sdk.dag does: the definition's file, not this one
    fill(dag.task_group, pipeline, root=root, spark=spark, deferrable=deferrable, partitions=partitions)
    return dag


def _described(pipeline: Pipeline) -> str:
    kinds = "\n".join(
        f"- `{name}`: {type(window).__name__.lower()}{_fewer(pipeline, name)}"
        for name, window in pipeline.windows.items()
    )
    aggregates = ", ".join(f"`{name}`" for name in pipeline.row_aggregates)
    return f"Windows of {aggregates}, by {', '.join(pipeline.keys) or 'nothing'}:\n\n{kinds}\n"


def _fewer(pipeline: Pipeline, window: str) -> str:
    """The keys of a rollup; "" of any other window."""
    keys = pipeline.keys_of(window)
    return "" if keys == tuple(pipeline.keys) else f", by {', '.join(keys) or 'nothing'}"


def schedule_of(pipeline: Pipeline, *, catchup: bool = True) -> Any:  # noqa: ANN401 - a timetable, or assets
    """The schedule of a pipeline, for a DAG of one's own: `DAG("shop", schedule=schedule_of(shop),
    start_date=shop.start, catchup=True)`.

    Its runs have the pipeline's data intervals; a pipeline over the windows of another is scheduled by their
    asset. `catchup`: as the DAG has it.

    Raises:
        DefinitionError: a schedule whose intervals Airflow cannot have.
    """
    from airflow.sdk import CronDataIntervalTimetable, DeltaDataIntervalTimetable

    if isinstance(pipeline.source, WindowSource):
        return [window_asset(pipeline.source.upstream, pipeline.source.window)]
    schedule = pipeline.intervals
    if schedule.cron:
        return CronDataIntervalTimetable(schedule.cron, timezone=schedule.timezone)
    if not catchup and schedule.anchor_us % schedule.step_us:
        grid = spell_instant(schedule.anchor_us // schedule.step_us * schedule.step_us)
        raise DefinitionError(
            f"catchup=False: Airflow then counts intervals of {spell(schedule.step_us)} from 1970, this"
            f" pipeline counts from its start {spell_instant(schedule.anchor_us)}; begin at {grid}, give a"
            " cron string as schedule, or leave catchup=True"
        )
    return DeltaDataIntervalTimetable(timedelta(microseconds=schedule.step_us))
