"""One DAG per pipeline: accumulate, finalize, validate, publish; a run per data interval."""

from __future__ import annotations

import sys
from datetime import UTC
from typing import TYPE_CHECKING, Any

from pipelines.airflow.assets import window_asset
from pipelines.airflow.place import END, START
from pipelines.airflow.spark import CONNECTION
from pipelines.definition.extras import need
from pipelines.sources import WindowSource

if TYPE_CHECKING:
    from pathlib import Path

    from airflow.sdk import DAG

    from pipelines.definition.pipeline import Pipeline


def airflow_dag(
    pipeline: Pipeline,
    *,
    root: str | Path | None = None,
    catchup: bool = True,
    max_active_runs: int = 16,
    conn_id: str = CONNECTION,
    **options: Any,  # noqa: ANN401 - whatever airflow.sdk.DAG takes
) -> DAG:
    """The DAG of a pipeline, named as it is. Give it a global name in a file of the DAG folder.

    A pipeline over the windows of another runs when these are published: by their asset, so that nothing waits in a worker.
    It reads every batch that was published since.

    Args:
        pipeline: the definition.
        root: of the state; None is `MUNTIN_ROOT`, else `state`. A relative one is below the project's folder.
        catchup: whether intervals of the past are scheduled by themselves; skipped ones are holes.
        max_active_runs: how many intervals are worked on at once, backfills apart.
        conn_id: of the connection that says where Spark is; while it does not exist, Spark is local.
        **options: more for `airflow.sdk.DAG`: default_args, tags, end_date, on_failure_callback...

    Raises:
        DefinitionError: a schedule whose intervals Airflow cannot have.
    """
    need("airflow")
    from airflow.sdk import DAG

    from pipelines.airflow.tasks import add_tasks

    dag = DAG(
        dag_id=pipeline.name,
        schedule=_schedule(pipeline, catchup=catchup),
        start_date=pipeline.start.astimezone(UTC),
        catchup=catchup,
        max_active_runs=max_active_runs,
        **{"params": _params(), "tags": ["muntin"], "doc_md": _described(pipeline), **options},
    )
    dag.fileloc = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - as airflow.sdk.dag does: the definition's file, not this one
    add_tasks(dag, pipeline, root=root, conn_id=conn_id)
    return dag


def _schedule(pipeline: Pipeline, *, catchup: bool) -> Any:  # noqa: ANN401 - a timetable, or assets
    if isinstance(pipeline.source, WindowSource):
        return [window_asset(pipeline.source.upstream, pipeline.source.window)]
    from pipelines.airflow.timetable import timetable_of

    return timetable_of(pipeline.intervals, catchup=catchup)


def _params() -> dict[str, Any]:
    """Fields of the trigger form, for a run by hand."""
    from airflow.sdk import Param

    kind = {"type": ["null", "string"], "format": "date-time"}
    return {
        START: Param(None, **kind, title="Interval start", description="Of the batch to run; empty: the run's own data interval"),
        END: Param(None, **kind, title="Interval end", description="Empty: the next border of the schedule"),
    }


def _described(pipeline: Pipeline) -> str:
    kinds = "\n".join(f"- `{name}`: {type(window).__name__.lower()}" for name, window in pipeline.windows.items())
    aggregates = ", ".join(f"`{name}`" for name in pipeline.aggregates)
    return f"Windows of {aggregates}, by {', '.join(pipeline.keys) or 'nothing'}:\n\n{kinds}\n"
