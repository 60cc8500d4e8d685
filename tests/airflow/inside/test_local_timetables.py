"""The intervals of a schedule on the clock of a zone are those of Airflow's own timetables, over both changes of the clock."""

from datetime import UTC, datetime
from typing import Any

import pytest

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import from_us
from muntin.definition.schedule import PRESETS, Interval, schedule_of

COUNT = 60
CRONS = [
    *("@hourly", "@daily", "@weekly", "@monthly"),
    *("0 6 * * *", "30 2 * * *", "0 1 * * *", "0 2 * * *", "0 3 * * *", "45 23 * * *"),
    *("*/30 * * * *", "0 */2 * * *", "0 */6 * * *", "0 0,12 * * *", "30 1-3 * * *"),
    *("0 6 * * 1-5", "0 2 * * 0", "15 9-17 * * 1-5", "17 1 1,15 * *", "0 0 1 */3 *"),
]
# a day before each change of the clock in 2024, and one zone without any
CHANGES = {
    "Europe/Berlin": ("2024-03-30", "2024-10-26"),
    "America/New_York": ("2024-03-09", "2024-11-02"),
    "Africa/Cairo": ("2024-04-25", "2024-10-30"),  # at midnight
    "America/Havana": ("2024-03-09", "2024-11-02"),  # at midnight, and at 1:00
    "America/St_Johns": ("2024-03-09", "2024-11-02"),
    "Pacific/Chatham": ("2024-04-06", "2024-09-28"),  # 12:45 ahead, at 2:45
    "Africa/Casablanca": ("2024-03-09", "2024-04-13"),  # set back in Ramadan
    "Asia/Kolkata": ("2024-03-30", "2024-10-26"),
}


def of_airflow(cron: str, zone: str, start: datetime) -> list[Interval]:
    """The intervals of the first runs that Airflow's scheduler makes."""
    from airflow.timetables.base import TimeRestriction
    from airflow.timetables.interval import CronDataIntervalTimetable
    from pendulum import instance

    timetable, last, found = CronDataIntervalTimetable(PRESETS.get(cron, cron), timezone=zone), None, list[Interval]()
    for _ in range(COUNT):
        run: Any = timetable.next_dagrun_info(
            last_automated_data_interval=last, restriction=TimeRestriction(earliest=instance(start), latest=None, catchup=True)
        )
        last = run.data_interval
        found.append(Interval(*(round(border.timestamp()) * 1_000_000 for border in (last.start, last.end))))
    return found


@pytest.mark.parametrize("zone", CHANGES)
@pytest.mark.parametrize("cron", CRONS)
def test_intervals_are_those_of_airflow(cron: str, zone: str) -> None:
    for day in CHANGES[zone]:
        start = datetime.fromisoformat(day).replace(hour=3, tzinfo=UTC)
        theirs = of_airflow(cron, zone, start)
        schedule = schedule_of(cron, round(start.timestamp()) * 1_000_000, zone)
        assert schedule.first_border_us == theirs[0].start_us
        assert schedule.intervals(theirs[0].start_us, theirs[-1].end_us) == theirs


def test_the_dag_of_a_pipeline_has_them() -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    local = Pipeline(
        name="local",
        source=sources.files("x/{start:%Y-%m-%d}.csv", event_time="at"),
        schedule="@daily",
        timezone="Europe/Berlin",
        start=datetime(2024, 3, 29, 23, tzinfo=UTC),
        windows={"hour": windows.tumbling("1h")},
        aggregates={"n": agg.count()},
    )
    kept = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(airflow_dag(local)))
    found = [info.data_interval for info in kept.iter_dagrun_infos_between(local.start, datetime(2024, 4, 1, tzinfo=UTC))]
    ours = local.intervals.intervals(*(round(at.timestamp()) * 1_000_000 for at in (local.start, datetime(2024, 4, 1, 22, tzinfo=UTC))))
    assert [(each.start, each.end) for each in found] == [(from_us(each.start_us), from_us(each.end_us)) for each in ours]
    assert [(each.end_us - each.start_us) // 3_600_000_000 for each in ours] == [24, 23, 24]
