"""One real scheduler: a day is published, the page shows it to who may see it, and a task that is killed is tried again.

day 1   a run: accumulate, finalize, validate, publish
day 2   a run whose first task is killed; Airflow tries it again
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from examples.demo.api import Api
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling
from examples.demo.watch import Inspection
from muntin import read
from muntin.cli.place import load_pipeline
from tests.airflow.project import DEFINITION, half_days, making_runs, write_project

ENDING = "airflow_dag(shop, spark=None, catchup=False, end_date=datetime(2024, 1, 1, tzinfo=UTC))"
IN_THE_WORKER = DEFINITION.replace("airflow_dag(shop)", ENDING)
ENDS = {"success", "failed"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    project = write_project(tmp_path / "project")
    (project / "dags/shop.py").write_text(IN_THE_WORKER, encoding="utf-8")
    (project / "dags/after_shop.py").unlink()
    made = making_runs(make_home(tmp_path / "home", state=tmp_path / "state"), project)
    return replace(made, env=made.env | {"AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "1"})


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with database(home) as postgres:
        migrate(home, postgres)
        with scheduling(home, "shop", postgres) as running:
            yield running


def begin(airflow: Airflow, day: int) -> str:
    """The address of a run of a day, which begins."""
    conf = {"interval_start": f"2024-01-{day:02d}T00:00:00Z"}
    run = airflow.api.post("dags/shop/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]
    return f"dags/shop/dagRuns/{run}"


def tries(airflow: Airflow, run: str) -> dict[str, tuple[str, int]]:
    """Wait until a run has ended; state and number of tries of each task."""

    def inspect(api: Api) -> Inspection:
        now = api.get(run)["state"]
        tasks = api.get(f"{run}/taskInstances")["task_instances"]
        return Inspection(now in ENDS, f"{now} {[(each['task_id'], each['state'], each['try_number']) for each in tasks]}")

    airflow.follow(inspect)
    tasks = airflow.api.get(f"{run}/taskInstances")["task_instances"]
    return {each["task_id"]: (each["state"], each["try_number"]) for each in tasks}


def kill(airflow: Airflow, task: str) -> None:
    """SIGKILL to the process of a task, as soon as it runs."""
    for _ in range(1200):
        now = airflow.api.get(task)
        if now["state"] == "running" and now["pid"]:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(now["pid"]).kill()
            return
        assert now["state"] not in ENDS, "the task was over before anybody saw it run"
        time.sleep(0.05)
    pytest.fail("the task never ran")


def published(home: Home) -> list[tuple[str, int, int]]:
    shop = load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/shop.py"))
    return sorted((row["who"], row["n"], row["total"]) for row in read(shop, "half_day", root=home.state).to_pylist())


def page(home: Home, token: str | None) -> tuple[int, str]:
    """Status and text of the page's tab of results."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.get(f"{home.url}/muntin/pipeline/shop/results", headers=bearer, timeout=60)
    return answer.status_code, answer.text


@pytest.mark.timeout(900)
def test_a_run_publishes_the_page_shows_it_and_a_killed_task_is_tried_again(airflow: Airflow, home: Home) -> None:
    assert set(tries(airflow, begin(airflow, 1)).values()) == {("success", 1)}
    assert published(home) == half_days([1])

    assert page(home, None)[0] == 401
    body = {"username": "admin", "password": home.password}
    status, text = page(home, httpx.post(f"{home.url}/auth/token", json=body, timeout=60).json()["access_token"])
    assert status == 200
    assert "half_day" in text

    run = begin(airflow, 2)
    kill(airflow, f"{run}/taskInstances/accumulate")
    tasks = tries(airflow, run)
    assert tasks["accumulate"] == ("success", 2)
    assert {state for state, _ in tasks.values()} == {"success"}
    assert published(home) == sorted(half_days([1, 2]))
