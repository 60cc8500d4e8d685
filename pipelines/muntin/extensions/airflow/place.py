"""The place of a run: the project's folder, the root of the state, and the data interval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import instant_us
from muntin.definition.pipeline import at_home
from muntin.errors import DefinitionError
from muntin.extensions.airflow.storage import let_connect, let_reach
from muntin.jobs.state.home import dags_holder, named_home, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound

    Root = str | AnyPath | None
    """The folder of the states, as `airflow_dag` has it."""
    Context = Mapping[str, Any]
    """The context of a task, as Airflow gives it."""
    PlaceOf = Callable[[Context], "Place"]
START, END = "interval_start", "interval_end"


@dataclass(frozen=True, slots=True)
class Place:
    """The pipeline, with absolute paths and with its state, and the run's interval.

    All tasks of a run share it.
    """

    bound: Bound
    interval: Interval


def place_of(pipeline: Pipeline, context: Context, root: Root) -> Place:
    """The place of a run, from the context of its task.

    A run without a data interval of the schedule is refused, and the state folder of another pipeline.
    """
    from muntin.jobs.state.bound import bind

    here, place = located(pipeline, context, root)
    interval = interval_of(pipeline, context)
    return Place(bind(here, place, claim=True), interval)


def located(pipeline: Pipeline, context: Context, root: Root) -> tuple[Pipeline, AnyPath]:
    """The pipeline with absolute paths, and the root of its state.

    Credentials for both are in the environment then.
    """
    home = home_of(context["dag"].fileloc)
    place = root_of(home, root)
    for source in (pipeline.origin, *pipeline.sources.values()):
        let_reach([place, getattr(source, "path", "")])
        let_connect(getattr(source, "connection", None))
    return at_home(pipeline, home), place


def home_of(dag_file: str | Path) -> Path:
    """The folder that relative paths start from:

    `MUNTIN_HOME`, else the folder that holds the folder `dags` of the file.
    """
    return named_home() or dags_holder(dag_file) or Path(dag_file).absolute().parents[1]


def step_of(task_id: str) -> str:
    """The step that a task does, also in a group: `accumulate` of `shop.accumulate`."""
    return task_id.rpartition(".")[2]


def interval_of(pipeline: Pipeline, context: Context) -> Interval:
    """The interval of a run: from its parameters, the newest batch that the upstream published, its
    partition, or its data interval.

    Anything but one interval of the schedule is refused.
    """
    run = context["dag_run"]
    asked = _asked(pipeline, context["params"]) or _from_upstream(pipeline, context)
    start_us, end_us = asked or _of_partition(pipeline, run) or _scheduled(run)
    intervals = pipeline.intervals.intervals(start_us, end_us)
    if len(intervals) != 1:
        raise DefinitionError(
            f"a run is about one interval of the schedule {pipeline.intervals}, and {len(intervals)} were"
            " asked for; create a backfill for several, or use `muntin run`"
        )
    return intervals[0]


def _asked(pipeline: Pipeline, params: Mapping[str, Any]) -> tuple[int, int] | None:
    start, end = params.get(START), params.get(END)
    if start is None:
        if end is not None:
            raise DefinitionError(f"{END} {end} was given and no {START}; give {START}, or neither")
        return None
    start_us = instant_us(datetime.fromisoformat(start), START)
    return start_us, (
        instant_us(datetime.fromisoformat(end), END) if end else pipeline.intervals.after(start_us)
    )


def _of_partition(pipeline: Pipeline, run: Any) -> tuple[int, int] | None:  # noqa: ANN401 - Airflow's run
    """The interval that holds the instant of the run's partition; None of a run without one.

    A key without a zone is in UTC.
    """
    if run.partition_key is None:
        return None
    try:
        moment = run.partition_date or datetime.fromisoformat(run.partition_key)
    except ValueError as wrong:
        raise DefinitionError(
            f"run {run.run_id} is of the partition {run.partition_key!r}, which is no instant, so it is about"
            " no batch; let keys be times such as 2024-01-01T00:00:00, or trigger it with the parameter"
            f" {START}"
        ) from wrong
    interval = pipeline.intervals.around(
        instant_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC), "partition")
    )
    return interval.start_us, interval.end_us


def _from_upstream(pipeline: Pipeline, context: Context) -> tuple[int, int] | None:
    """The newest batch in the events that started the run, for a pipeline over the windows of another."""
    if pipeline.origin.upstream is None:
        return None
    events = [
        event for of_asset in (context.get("triggering_asset_events") or {}).values() for event in of_asset
    ]
    starts = [datetime.fromisoformat(start) for event in events for start in event.extra.get("published", ())]
    if not starts:
        return None
    start_us = instant_us(max(starts), "published")
    return start_us, pipeline.intervals.after(start_us)


def _scheduled(run: Any) -> tuple[int, int]:  # noqa: ANN401 - Airflow's run
    start, end = run.data_interval_start, run.data_interval_end
    if start is None or end is None or start == end:
        raise DefinitionError(
            f"run {run.run_id} has no data interval, so it is about no batch; trigger it with the parameter"
            f" {START} (such as 2013-01-01T00:00:00Z), or with a logical date, or create a backfill"
        )
    return instant_us(start, "data_interval_start"), instant_us(end, "data_interval_end")
