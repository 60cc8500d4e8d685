"""Muntin's tasks in DAGs of the user's, and many pipelines of one file: the blocks of the pages on both are read and run."""

import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from examples.demo.home import PROJECT
from muntin import Pipeline, airflow_dag, muntin_tasks, read, run, sources, windows
from muntin import aggregates as agg
from muntin.cli.place import load_pipeline, names_in
from muntin.definition.pipeline import at_home
from muntin.errors import DefinitionError
from muntin.extensions.airflow import schedule_of
from muntin.jobs.state.definition_files import run_file

PAGES = ("airflow-among-tasks", "airflow-partitions")
PAGE = "\n".join((PROJECT / f"docs/{name}.md").read_text(encoding="utf-8") for name in PAGES)
FILES = {name: text for text, name in re.findall(r"```(?:python|yaml)\n(# dags/([\w.]+).*?)```", PAGE, re.DOTALL)}
STEPS = ["accumulate", "finalize", "validate", "publish"]
DAY = "at,amount\n2024-01-01T01:00:00Z,3\n2024-01-01T13:00:00Z,4\n"


def written(folder: Path, files: Mapping[str, str]) -> dict[str, Any]:
    """The DAGs of these files."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    (folder / "dags").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / "dags" / name).write_text(text, encoding="utf-8")
    sys.path.append(str(folder / "dags"))  # as Airflow's DAG processor does
    bag = DagBag(dag_folder=str(folder / "dags"))
    assert bag.import_errors == {}
    return dict(bag.dags)


@pytest.fixture(scope="session")
def shown(project: Path) -> dict[str, Any]:
    """The DAGs of the page's files, in Airflow's own folder of DAGs."""
    return written(project, FILES)


def pipeline(**changes: Any) -> Pipeline:
    given: dict[str, Any] = {
        "name": "small",
        "source": sources.files("x/{start:%Y-%m-%dT%H%M}.csv", event_time="at"),
        "schedule": "@hourly",
        "start": datetime(2024, 1, 1, tzinfo=UTC),
        "windows": {"hour": windows.tumbling("1h")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**{**given, **changes})


def test_a_loop_and_a_file_of_parameters_make_dags_whose_ids_stay(shown: dict[str, Any], tmp_path: Path) -> None:
    assert set(FILES) == {"rides.py", "trips.yaml", "trips.py", "orders.py", "hours.py", "days.py", "busy.py"}
    assert set(shown) - {"shop", "after_shop"} == {
        *("rides_oslo", "rides_lima", "trips_oslo", "trips_lima", "orders", "hours", "days", "busy")
    }

    first, oslo, lima = FILES["trips.yaml"].splitlines()
    bergen = "bergen: { timezone: Europe/Oslo, window: 1h, pool: north }"
    turned = {"trips.yaml": f"{first}\n{bergen}\n{lima}\n{oslo}", "trips.py": FILES["trips.py"]}
    again = written(tmp_path / "again", turned)
    assert set(again) == {"trips_oslo", "trips_lima", "trips_bergen"}
    for name in ("trips_oslo", "trips_lima"):
        assert again[name].timetable == shown[name].timetable
        assert {task.pool for task in again[name].tasks} == {task.pool for task in shown[name].tasks}


def test_commands_know_each_pipeline_of_a_file(shown: dict[str, Any], tmp_path: Path) -> None:
    file = Path(shown["trips_oslo"].fileloc)
    assert sorted(names_in(file)) == ["trips_lima", "trips_oslo"]
    (tmp_path / "data/oslo").mkdir(parents=True)
    (tmp_path / "data/oslo/2024-01-01.csv").write_text("at\n2024-01-01 00:30:00\n2024-01-01 00:40:00\n", encoding="utf-8")
    oslo = at_home(load_pipeline(file, "trips_oslo"), tmp_path)
    begin = datetime(2023, 12, 31, 23, tzinfo=UTC)
    run(oslo, root=tmp_path / "state", start=begin, end=begin + timedelta(days=1))
    rows = read(oslo, "rides", root=tmp_path / "state").to_pylist()
    assert [(row["window_start"], row["n"]) for row in rows] == [(begin, 2)]


def test_a_root_that_a_group_names_is_known(tmp_path: Path) -> None:
    file = tmp_path / "orders.py"
    file.write_text(FILES["orders.py"].replace("spark=None", 'spark=None, root="elsewhere"'), encoding="utf-8")
    assert [(each.name, root) for each, root in run_file(file).dags] == [("orders", "elsewhere")]


def test_a_sensor_before_and_a_task_behind(shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dag = shown["orders"]
    assert [task.task_id for task in dag.topological_sort()] == ["arrived", *(f"orders.{step}" for step in STEPS), "tell"]
    assert dag.get_task("orders.accumulate").upstream_task_ids == {"arrived"}
    assert dag.get_task("tell").upstream_task_ids == {"orders.publish"}
    assert set(dag.params) == {"interval_start", "interval_end"}

    home = Path(dag.fileloc).parents[1]
    (home / "data/orders").mkdir(parents=True)
    (home / "data/orders/2024-01-01.csv").write_text(DAY, encoding="utf-8")
    monkeypatch.setenv("MUNTIN_ROOT", str(tmp_path / "state"))
    done = dag.test(logical_date=datetime(2024, 1, 2, tzinfo=UTC))
    assert {str(each.state) for each in done.get_task_instances()} == {"success"}
    rows = read(load_pipeline(Path(dag.fileloc)), "half_day", root=tmp_path / "state").to_pylist()
    assert [(row["n"], row["total"]) for row in rows] == [(1, 3), (1, 4)]


def test_both_forms_share_everything() -> None:
    from airflow.sdk import DAG

    mine = {"retries": 2, "pool": "spark", "pool_slots": 2, "queue": "large", "priority_weight": 5, "executor": "LocalExecutor"}
    with DAG("mine", schedule=schedule_of(pipeline()), start_date=pipeline().start, default_args={**mine, "pool": "other"}) as theirs:
        group = muntin_tasks(pipeline(), default_args={"pool": "spark"})
    ours = airflow_dag(pipeline(), default_args=mine)
    assert group.group_id == "small"
    assert ours.timetable == theirs.timetable
    for step in STEPS:
        plain, grouped = ours.get_task(step), theirs.get_task(f"small.{step}")
        for name in (*mine, "outlets"):
            assert getattr(plain, name) == getattr(grouped, name)
        assert len(plain.on_success_callback) == len(grouped.on_success_callback)
        assert {name: getattr(plain, name) for name in mine} == mine


def test_where_runs_would_have_no_interval_it_is_refused() -> None:
    from airflow.sdk import DAG

    with pytest.raises(DefinitionError, match=r"muntin_tasks\(small\): there is no DAG around it; call it below `with DAG"):
        muntin_tasks(pipeline())
    with DAG("plain", schedule="@hourly"), pytest.raises(DefinitionError, match=r"no data interval.*schedule=schedule_of\(small\)"):
        muntin_tasks(pipeline())


def test_a_pipeline_may_wait_for_partitions(shown: dict[str, Any]) -> None:
    assert shown["busy"].timetable.asset_condition.uri == "muntin://hours/hour"
    assert type(shown["busy"].timetable) is type(shown["days"].timetable)
    assert [task.task_id for task in shown["busy"].topological_sort()] == STEPS


def test_two_pipelines_stand_in_one_dag() -> None:
    from airflow.sdk import DAG

    with DAG("both", schedule=schedule_of(pipeline()), start_date=pipeline().start) as dag:
        muntin_tasks(pipeline()) >> muntin_tasks(pipeline(name="second"))
    assert [task.task_id for task in dag.topological_sort()] == [f"{name}.{step}" for name in ("small", "second") for step in STEPS]
