"""The timetable of a pipeline: its runs have the data intervals of the pipeline's schedule."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import spell
from muntin.definition.instants import spell_instant
from muntin.errors import DefinitionError
from muntin.extensions.airflow.assets.partitions import window_asset
from muntin.sources.upstream_windows import WindowSource

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Schedule


def schedule_of(pipeline: Pipeline, *, catchup: bool = True) -> Any:  # noqa: ANN401 - a timetable, or assets
    """The schedule of a pipeline, for a DAG of one's own: `DAG("shop", schedule=schedule_of(shop),
    start_date=shop.start, catchup=True)`.

    Its runs have the pipeline's data intervals; a pipeline over the windows of another is scheduled by their
    asset. `catchup`: as the DAG has it.

    Raises:
        DefinitionError: a schedule whose intervals Airflow cannot have.
    """
    if isinstance(pipeline.source, WindowSource):
        return [window_asset(pipeline.source.upstream, pipeline.source.window)]
    return timetable_of(pipeline.intervals, catchup=catchup)


def timetable_of(schedule: Schedule, *, catchup: bool) -> Any:  # noqa: ANN401 - one of Airflow's timetables
    """A timetable with data intervals, by the clock of the schedule. In Airflow 3, runs of a plain cron
    string have none.

    A duration without catch-up is refused: Airflow would count intervals from 1970, not from the pipeline's
    start.
    """
    from airflow.sdk import CronDataIntervalTimetable, DeltaDataIntervalTimetable

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
