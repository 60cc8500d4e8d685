"""The tasks of a pipeline inside of a DAG of the user's, and what `airflow_dag` shares with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.extras import need
from muntin.definition.relative_paths import readable
from muntin.errors import DefinitionError
from muntin.extensions.airflow.assets.partitions import check_few
from muntin.extensions.airflow.deadlines import deadline_of, fresh_by
from muntin.extensions.airflow.place import END, START, home_of
from muntin.extensions.airflow.spark import CONNECTION
from muntin.jobs.publish.spark_needed import rows_need_spark

if TYPE_CHECKING:
    from airflow.sdk import TaskGroup

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.extensions.airflow.place import Root
    from muntin.files.paths import AnyPath


def muntin_tasks(
    pipeline: Pipeline,
    *,
    root: str | AnyPath | None = None,
    spark: str | None = CONNECTION,
    deferrable: bool | None = None,
    partitions: Partitions | None = None,
    **options: Any,  # noqa: ANN401 - whatever airflow.sdk.TaskGroup takes
) -> TaskGroup:
    """The four tasks of a pipeline as a task group of the DAG around the call, for tasks before and after
    them.

        with DAG("shop", schedule=schedule_of(shop), start_date=shop.start, catchup=True):
            arrived() >> muntin_tasks(shop) >> told()

    Args:
        pipeline: the definition. The group has its name, so tasks are called `shop.accumulate`...
        root: as `airflow_dag` has it.
        spark: as `airflow_dag` has it.
        deferrable: as `airflow_dag` has it.
        partitions: as `airflow_dag` has them.
        **options: further arguments of `airflow.sdk.TaskGroup`: group_id, default_args (pool, queue,
            retries...), tooltip...

    Raises:
        DefinitionError: there is no DAG around the call, or its runs have no data intervals; and as
            `airflow_dag`.
    """
    need("airflow")
    from airflow.sdk import TaskGroup

    try:
        group = TaskGroup(**{"group_id": pipeline.name, **options})
    except RuntimeError as wrong:
        raise DefinitionError(
            f"muntin_tasks({pipeline.name}): there is no DAG around it; call it below `with DAG(...):`"
        ) from wrong
    fill(group, pipeline, root=root, spark=spark, deferrable=deferrable, partitions=partitions)
    return group


def fill(
    group: TaskGroup,
    pipeline: Pipeline,
    *,
    root: Root,
    spark: str | None,
    deferrable: bool | None,
    partitions: Partitions | None = None,
) -> None:
    """Put the tasks of a pipeline into a group, and the fields of the trigger form and the deadlines into the
    group's DAG.
    """
    readable(str(root or ""), "root")
    if spark is None and (what := rows_need_spark(pipeline)):
        raise DefinitionError(f"{pipeline.name}, spark=None: {what} needs Spark; leave spark= out")
    if partitions:
        check_few(pipeline, partitions)
    from airflow.configuration import conf
    from airflow.sdk import CronTriggerTimetable, DeltaTriggerTimetable, Param

    from muntin.extensions.airflow.tasks import add_tasks

    if deferrable is None:
        deferrable = conf.getboolean("operators", "default_deferrable", fallback=False)
    dag = group.dag
    at = dag.timetable
    if isinstance(at, CronTriggerTimetable | DeltaTriggerTimetable) and not at.interval:
        raise DefinitionError(
            f"{pipeline.name}: runs of the DAG {dag.dag_id} have no data interval, so they are about no"
            f" batch; give the DAG schedule=schedule_of({pipeline.name}), from muntin.extensions.airflow"
        )
    kind = {"type": ["null", "string"], "format": "date-time"}
    for name, param in {
        START: Param(
            None,
            **kind,
            title="Interval start",
            description="Of the batch to run; empty: the run's own data interval",
        ),
        END: Param(None, **kind, title="Interval end", description="Empty: the next border of the schedule"),
    }.items():
        if name not in dag.params:
            dag.params[name] = param
    where = {"home": str(home_of(dag.fileloc)), "root": str(root) if root else None}
    if deadlines := [*deadline_of(pipeline, where), *fresh_by(pipeline, where)]:
        dag.deadline = [*(dag.deadline or []), *deadlines]
    add_tasks(group, pipeline, root=root, spark=spark, deferrable=deferrable, partitions=partitions)
