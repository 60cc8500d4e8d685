"""What a DAG file gives: ids, order, data intervals; and what reading it costs."""

import re
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from examples.demo.home import PROJECT
from muntin import Limits, Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.extensions import alerts
from muntin.extensions.airflow.place import home_of

HEAVY = ("pyspark", "great_expectations", "numba", "duckdb", "pyarrow", "deltalake")
TASKS = ["accumulate", "finalize", "validate", "publish"]


def pipeline(**changes: Any) -> Pipeline:
    plain = Pipeline(
        name="small",
        source=sources.files("x/{start:%Y-%m-%dT%H%M}.csv", event_time="at"),
        schedule="@hourly",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        windows={"hour": windows.tumbling("1h")},
        aggregates={"n": agg.count()},
    )
    return replace(plain, **changes)


def test_the_project_s_own_dag_files_import():
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(PROJECT / "dags"))

    assert bag.import_errors == {}
    assert "flights" in bag.dags
    assert [task.task_id for task in bag.dags["flights"].topological_sort()] == TASKS


def test_reading_a_dag_file_loads_nothing_heavy_and_takes_under_a_second():
    script = f"""
import sys, time
import airflow.sdk
from airflow.dag_processing.dagbag import DagBag
begun = time.process_time()
bag = DagBag(dag_folder={str(PROJECT / "dags")!r})
print(time.process_time() - begun, len(bag.dags), *[name for name in {HEAVY} if name in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    seconds, count, *heavy = out.splitlines()[-1].split()
    assert (int(count) > 0, heavy) == (True, [])
    assert float(seconds) < 1


def test_importing_the_package_loads_nothing_heavy():
    script = f"import sys, muntin, muntin.extensions.airflow; print([n for n in {(*HEAVY, 'airflow', 'numpy')} if n in sys.modules])"
    begun = time.perf_counter()
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
    assert time.perf_counter() - begun < 5


def test_defaults(dags: dict[str, Any]):
    dag = dags["shop"]
    assert (dag.dag_id, dag.catchup, dag.max_active_runs) == ("shop", True, 16)
    assert [task.task_id for task in dag.topological_sort()] == TASKS
    assert not any(task.depends_on_past for task in dag.tasks)
    assert dag.start_date == datetime(2024, 1, 1, tzinfo=UTC)
    assert Path(dag.fileloc).name == "shop.py"
    assert set(dag.params) == {"interval_start", "interval_end"}


@pytest.mark.parametrize(
    ("schedule", "start", "moment", "interval"),
    [
        ("@daily", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1)),
        ("*/15 * * * *", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=15)),
        ("90m", datetime(2024, 1, 1, 0, 7, tzinfo=UTC), datetime(2024, 1, 1, 0, 7, tzinfo=UTC), timedelta(minutes=90)),
    ],
)
def test_the_first_scheduled_intervals_are_those_of_the_pipeline(schedule: str, start: datetime, moment: datetime, interval: timedelta):
    from airflow.serialization.serialized_objects import DagSerialization

    made = airflow_dag(pipeline(schedule=schedule, start=start))
    kept = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(made))
    found = [info.data_interval for info in kept.iter_dagrun_infos_between(moment, moment + 2 * interval)]

    assert [(each.start, each.end) for each in found[:2]] == [(moment + n * interval, moment + (n + 1) * interval) for n in range(2)]


def test_a_pipeline_over_several_sources_is_a_dag():
    several = {name: sources.files(f"{name}/{{start:%Y-%m-%dT%H}}.csv", event_time="at") for name in ("visits", "carts")}
    made = airflow_dag(pipeline(source=several, aggregates={"n": agg.count(), "carts": agg.count(source="carts")}))
    assert [task.task_id for task in made.topological_sort()] == TASKS


def test_options_reach_airflow():
    dag = airflow_dag(pipeline(), catchup=False, max_active_runs=3, tags=["mine"], default_args={"retries": 2})
    assert (dag.catchup, dag.max_active_runs, dag.tags) == (False, 3, {"mine"})
    assert {task.retries for task in dag.tasks} == {2}


def test_a_duration_that_airflow_would_count_from_elsewhere_needs_catching_up():
    odd = pipeline(schedule="7m")
    with pytest.raises(DefinitionError, match=r"catchup=False: .* begin at 2023-12-31T23:54, give a cron string"):
        airflow_dag(odd, catchup=False)
    airflow_dag(odd)


def test_a_silence_is_a_deadline_beside_the_user_s_own():
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback
    from airflow.serialization.serialized_objects import DagSerialization

    own = DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, timedelta(hours=9), SyncCallback("builtins.print"))
    told = pipeline(alerts=alerts.to("alerts", silent_after="2h"))
    made = airflow_dag(told, deadline=own)
    theirs, ours = made.deadline
    assert (theirs, ours.interval) == (own, timedelta(hours=2))
    assert ours.callback.path == "muntin.extensions.airflow.deadlines.tell_of_silence"
    assert ours.callback.kwargs == {"pipeline": "small", "channels": ["alerts"], "after_us": 7_200_000_000}
    assert len(DagSerialization.serialize_dag(made)["deadline"]) == 2
    assert airflow_dag(pipeline(alerts=alerts.to("alerts"))).deadline is None
    with pytest.raises(DefinitionError, match="needs a channel with a name"):
        airflow_dag(pipeline(alerts=alerts.to(print, silent_after="2h")))


def test_deadlines_of_who_asks_know_where_a_question_is_noted():
    from airflow.serialization.serialized_objects import DagSerialization

    told = alerts.to("alerts", silent_after="2h")
    asking = {"expectations": {"hour": "hour.json"}, "limits": Limits(fresh_within="90m", ask_within="90m")}
    made = airflow_dag(pipeline(alerts=told, **asking), root="s3://bucket/state")
    where = {"home": str(home_of(__file__)), "root": "s3://bucket/state", "within_us": 5_400_000_000}
    assert [each.callback.kwargs["asking"] for each in made.deadline] == [where, where]
    assert len(DagSerialization.serialize_dag(made)["deadline"]) == 2


def test_who_asks_has_one_task_more():
    asking = pipeline(expectations={"hour": "hour.json"}, limits=Limits(ask_within="90m"))
    tasks = [task.task_id for task in airflow_dag(asking).topological_sort()]
    assert tasks == [*TASKS[:-1], "ask", TASKS[-1]]
    assert [task.task_id for task in airflow_dag(replace(asking, limits=Limits())).topological_sort()] == TASKS
    assert airflow_dag(asking).get_task("ask").response_timeout == timedelta(minutes=90)


def test_fresh_within_is_a_deadline_from_the_end_of_an_interval():
    made = airflow_dag(pipeline(limits=Limits(fresh_within="90m"), alerts=alerts.to("alerts", print, silent_after="2h")))
    silence, fresh = made.deadline
    assert (silence.interval, fresh.interval) == (timedelta(hours=2), timedelta(minutes=90))
    assert fresh.callback.path == "muntin.extensions.airflow.deadlines.tell_of_lag"
    known = {
        "pipeline": "small",
        "channels": ["alerts"],
        "within_us": 5_400_000_000,
        "windows": ["hour"],
        "batch_us": 3_600_000_000,
        "root": None,
    }
    assert fresh.callback.kwargs == known | {"home": str(home_of(__file__))}
    (alone,) = airflow_dag(pipeline(limits=Limits(fresh_within="90m"))).deadline
    assert alone.callback.kwargs["channels"] == []


def test_alerts_are_callbacks_beside_the_user_s_own():
    mine = {"on_failure_callback": print}
    made = airflow_dag(pipeline(alerts=alerts.to("alerts")), default_args=mine)
    assert [[len(made.get_task(name).on_failure_callback), len(made.get_task(name).on_success_callback)] for name in TASKS] == [
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 1],
    ]
    assert all(made.get_task(name).on_failure_callback[0] is print for name in TASKS)
    assert [list(task.on_failure_callback) for task in airflow_dag(pipeline(), default_args=mine).tasks] == [[print]] * 4


@pytest.mark.parametrize("name", TASKS)
def test_a_task_that_airflow_ends_leaves_with_a_status(name: str, monkeypatch: pytest.MonkeyPatch):
    """As Airflow's task runner does: it prepares a copy of the task, and calls its `on_kill` on SIGTERM."""
    from muntin.extensions.airflow import steps, tasks

    monkeypatch.setattr(steps, "check", lambda *_: None)
    monkeypatch.setattr(tasks, "place_of", lambda *_, **__: None)
    dag = airflow_dag(pipeline())
    task = dag.get_task(name).prepare_for_execution()
    task.on_kill()
    task._pre_execute_hook({"task": task, "dag": dag})
    with pytest.raises(SystemExit):
        task.on_kill()


def test_the_dag_of_docs_airflow_md_waits_for_the_windows() -> None:
    from airflow.sdk import DAG, task

    (code,) = re.findall(r"```python\n(from muntin.airflow.*?)```", (PROJECT / "docs/airflow.md").read_text(encoding="utf-8"), re.DOTALL)
    made = list[DAG]()

    def noted(*words: Any, **options: Any) -> DAG:
        made.append(DAG(*words, **options))  # noqa: AIR002 - the page says which
        return made[-1]

    exec(compile(f"{code}\n    rank()\n", "airflow.md", "exec"), {"DAG": noted, "task": task})  # noqa: S102 - our own page
    (dag,) = made
    assert dag.task_ids == ["rank"]
    assert [asset.uri for asset in dag.timetable.asset_condition.objects] == ["muntin://flights/last_6_hours"]
