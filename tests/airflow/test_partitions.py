"""The real scheduler: DAGs that wait for partitions of windows, and Muntin's tasks between a sensor and a notification.

half days     1     2       1 again
keys          0-11  12-23   0-23         whole="1d"
DAG day             run     run          Airflow's RollupMapper waits for 24 hours
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.demo.api import Api
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling
from examples.demo.watch import Inspection
from muntin import read
from muntin.cli.place import load_pipeline
from tests.airflow.project import making_runs

DEFINITIONS = """
from datetime import UTC, datetime

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

orders = Pipeline(
    name="orders",
    source=sources.files("data/{start:%Y-%m-%dT%H}.csv", event_time="at", types={"amount": "BIGINT"}),
    schedule="12h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={"hour": windows.tumbling("1h")},
    aggregates={"total": agg.sum("amount")},
)
totals = Pipeline(
    name="totals",
    source=sources.windows(orders, "hour", event_time="window_start"),
    schedule="12h",
    start=orders.start,
    windows={"half": windows.tumbling("12h")},  # the second half waits for rows of 23h, whose times are their starts
    aggregates={"total": agg.sum("total")},
)
"""
ORDERS = """
from datetime import timedelta
from pathlib import Path

from airflow.sdk import DAG, task
from definitions import orders

from muntin import muntin_tasks
from muntin.extensions.airflow import by_window, schedule_of

with DAG("orders", schedule=schedule_of(orders), start_date=orders.start, end_date=orders.start + timedelta(days=1), catchup=True):

    @task.sensor(poke_interval=1, timeout=300)
    def arrived(data_interval_start=None):
        return data_interval_start is None or Path(__file__).parents[1].joinpath(f"arrived-{data_interval_start.hour}").exists()

    @task
    def tell(ti=None):
        return ti.xcom_pull(task_ids="orders.publish")["report"]["rows_read"]

    arrived() >> muntin_tasks(orders, spark=None, partitions=by_window(whole="1d")) >> tell()
"""
AFTER = """
from airflow.sdk import DAG, DayWindow, PartitionedAssetTimetable, RollupMapper, StartOfDayMapper, WaitForAll, task
from definitions import totals

from muntin import airflow_dag
from muntin.extensions.airflow import window_asset

whole_days = PartitionedAssetTimetable(
    assets=window_asset("orders", "hour"),
    default_partition_mapper=RollupMapper(upstream_mapper=StartOfDayMapper(), window=DayWindow(), wait_policy=WaitForAll()),
)
for name, schedule in {"day": whole_days, "plain": [window_asset("orders", "hour")]}.items():
    with DAG(name, schedule=schedule, catchup=False) as dag:

        @task
        def look():
            pass

        look()
    globals()[name] = dag

dag = airflow_dag(totals, spark=None, schedule=whole_days, catchup=False)
"""


def write(project: Path, half: str, rows: dict[int, int]) -> None:
    """Rows of half a day, amounts by hour."""
    lines = [f"2024-01-01T{hour:02d}:10:00Z,{amount}" for hour, amount in rows.items()]
    (project / f"data/2024-01-01T{half}.csv").write_text("\n".join(["at,amount", *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    project = tmp_path / "project"
    for folder in ("dags", "data"):
        (project / folder).mkdir(parents=True)
    for name, text in {"definitions": DEFINITIONS, "orders": ORDERS, "after": AFTER}.items():
        (project / f"dags/{name}.py").write_text(text, encoding="utf-8")
    write(project, "00", {1: 1, 5: 2})  # most hours have no row, and are closed all the same
    write(project, "12", {23: 4})
    return making_runs(make_home(tmp_path / "home", state=tmp_path / "state"), project)


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with database(home) as postgres:
        migrate(home, postgres)
        with scheduling(home, "totals", postgres) as running:
            running.follow(lambda api: Inspection(len(found := api.get("dags")["dags"]) == 4, str(len(found))))
            yield running


def run_of(airflow: Airflow, hour: int) -> str:
    """The scheduled run of the half day that starts at an hour, once there is one."""

    def found(api: Api) -> list[str]:
        runs = api.get("dags/orders/dagRuns")["dag_runs"]
        return [run["dag_run_id"] for run in runs if (run["data_interval_start"] or "").startswith(f"2024-01-01T{hour:02d}")]

    airflow.follow(lambda api: Inspection(bool(found(api)), "the scheduler makes runs"))
    return found(airflow.api)[0]


def again(airflow: Airflow, hour: int) -> str:
    """Begin another run of the half day that starts at an hour."""
    conf = {"interval_start": f"2024-01-01T{hour:02d}:00:00Z"}
    return str(airflow.api.post("dags/orders/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"])


def until_ended(airflow: Airflow, run: str) -> dict[str, str]:
    """Wait for a run; the states of its tasks."""

    def inspect(api: Api) -> Inspection:
        state = api.get(f"dags/orders/dagRuns/{run}")["state"]
        return Inspection(state in {"success", "failed"}, state)

    airflow.follow(inspect)
    tasks = airflow.api.get(f"dags/orders/dagRuns/{run}/taskInstances")["task_instances"]
    return {each["task_id"]: each["state"] for each in tasks}


def until_runs(airflow: Airflow, **counts: int) -> dict[str, list[dict[str, Any]]]:
    """Wait until these DAGs have so many successful runs; their runs."""

    def runs(api: Api) -> dict[str, list[dict[str, Any]]]:
        return {name: api.get(f"dags/{name}/dagRuns")["dag_runs"] for name in counts}

    def inspect(api: Api) -> Inspection:
        done = {name: sum(run["state"] == "success" for run in found) for name, found in runs(api).items()}
        return Inspection(all(done[name] >= count for name, count in counts.items()), str(done))

    airflow.follow(inspect)
    return runs(airflow.api)


def totals(home: Home) -> list[int]:
    """What the pipeline over the hours has of each half day that is closed."""
    pipeline = load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/definitions.py"), "totals")
    return [row["total"] for row in read(pipeline, "half", root=home.state).to_pylist()]


@pytest.mark.timeout(900)
def test_who_waits_for_a_day_runs_once_it_is_whole_and_again_when_it_is_corrected(airflow: Airflow, home: Home) -> None:
    project = Path(home.env["MUNTIN_HOME"])
    first, second = run_of(airflow, 0), run_of(airflow, 12)
    airflow.follow(lambda api: Inspection(_state(api, first, "arrived") == "running", "the sensor begins"))
    assert _state(airflow.api, first, "orders.accumulate") is None
    (project / "arrived-0").touch()
    tasks = until_ended(airflow, first)
    assert set(tasks) == {"arrived", *(f"orders.{step}" for step in ("accumulate", "finalize", "validate", "publish")), "tell"}
    assert set(tasks.values()) == {"success"}
    runs = until_runs(airflow, plain=1, day=0, totals=0)
    assert {name: len(found) for name, found in runs.items()} == {"plain": 1, "day": 0, "totals": 0}

    (project / "arrived-12").touch()
    until_ended(airflow, second)
    runs = until_runs(airflow, plain=2, day=1, totals=1)
    assert {name: [run["partition_key"] for run in found] for name, found in runs.items()} == {
        "plain": [None, None],
        "day": ["2024-01-01"],
        "totals": ["2024-01-01"],
    }
    assert totals(home) == [3]

    write(project, "00", {1: 1, 5: 20})
    until_ended(airflow, again(airflow, 0))
    runs = until_runs(airflow, plain=3, day=2, totals=2)
    assert [run["partition_key"] for run in runs["day"]] == ["2024-01-01"] * 2
    assert totals(home) == [21]


def _state(api: Api, run: str, task: str) -> str | None:
    state = api.get(f"dags/orders/dagRuns/{run}/taskInstances/{task}")["state"]
    return str(state) if state else None
