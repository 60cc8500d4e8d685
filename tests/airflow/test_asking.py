"""The real scheduler: a suite fails, and a person is asked whether to publish all the same. Yes, no, no answer; good data asks nobody.

day          1 good    2 bad                   2 again, replaced by other bad data
shop         nothing   asks: yes, published    asks again: no, held
impatient              asks: no answer, held
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
from muntin.jobs.inspect.status import status
from tests.airflow.project import DEFINITION, half_days, making_runs, write_day, write_project

BAD = [("ann", 3, -1), ("bob", 4, 2)]
WORSE = [("ann", 3, -5)]
ASKING = DEFINITION.replace("expectations=", 'limits=Limits(ask_within="4h"), expectations=').replace(
    "airflow_dag(shop)", "airflow_dag(shop, spark=None, catchup=False, end_date=datetime(2024, 1, 1, tzinfo=UTC))"
)
IMPATIENT = ASKING.replace('name="shop"', 'name="impatient"').replace("4h", "15s")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    project = write_project(tmp_path / "project")
    write_day(project, 2, BAD)
    for name, text in {"shop": ASKING, "impatient": IMPATIENT}.items():
        (project / f"dags/{name}.py").write_text(text, encoding="utf-8")
    (project / "dags/after_shop.py").unlink()
    made = making_runs(make_home(tmp_path / "home", state=tmp_path / "state"), project)
    made.env["AIRFLOW__SCHEDULER__TRIGGER_TIMEOUT_CHECK_INTERVAL"] = "1"
    return made


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with database(home) as postgres:
        migrate(home, postgres)
        with scheduling(home, "shop", postgres) as running:
            running.follow(lambda api: Inspection(len(found := api.get("dags")["dags"]) == 2, str(len(found))))
            yield running


def begin(airflow: Airflow, day: int, dag: str = "shop") -> str:
    """The address of a run of a day, which begins."""
    conf = {"interval_start": f"2024-01-{day:02d}T00:00:00Z"}
    run = airflow.api.post(f"dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]
    return f"dags/{dag}/dagRuns/{run}"


def until(airflow: Airflow, run: str, *states: str) -> dict[str, str]:
    """Wait until a run has ended in one of these states; the states of its tasks."""

    def inspect(api: Api) -> Inspection:
        now = api.get(run)["state"]
        tasks = {each["task_id"]: each["state"] for each in api.get(f"{run}/taskInstances")["task_instances"]}
        return Inspection(now in states, f"{now} {tasks}")

    airflow.follow(inspect)
    return {each["task_id"]: each["state"] for each in airflow.api.get(f"{run}/taskInstances")["task_instances"]}


def question(airflow: Airflow, run: str) -> dict[str, Any]:
    """What Airflow asks, once it waits for the answer, and its scheduler has noticed: an answer in the same second lets the task fail."""
    asked = f"{run}/taskInstances/ask"
    airflow.follow(lambda api: Inspection((now := api.get(asked)["state"]) == "awaiting_input", str(now)))
    beats: set[str] = set()

    def beat(api: Api) -> Inspection:
        beats.add(api.get("monitor/health")["scheduler"]["latest_scheduler_heartbeat"])
        return Inspection(len(beats) > 2, str(len(beats)))

    airflow.follow(beat)
    return airflow.api.get(f"{asked}/-1/hitlDetails")


def answer(airflow: Airflow, run: str, option: str, reason: str) -> None:
    """Answer as the user admin does in Airflow's page."""
    body = {"chosen_options": [option], "params_input": {"reason": reason}}
    airflow.api.post(f"{run}/taskInstances/ask/-1/hitlDetails", body, method="PATCH")


def shop(home: Home, name: str = "shop") -> Any:
    return load_pipeline(Path(home.env["MUNTIN_HOME"], f"dags/{name}.py"))


def published(home: Home) -> list[tuple[str, int, int]]:
    return sorted((row["who"], row["n"], row["total"]) for row in read(shop(home), "half_day", root=home.state).to_pylist())


def told(home: Home, name: str = "shop") -> list[tuple[str, str | None]]:
    """State and approval of each batch that was read."""
    states = status(shop(home, name), root=home.state).states
    assert states
    return [(each.state, each.despite) for each in states.listed if each.reason is None or "no run has read" not in each.reason]


@pytest.mark.timeout(900)
def test_a_person_decides_about_what_a_suite_holds(airflow: Airflow, home: Home) -> None:
    project = Path(home.env["MUNTIN_HOME"])
    assert set(until(airflow, begin(airflow, 1), "success", "failed").values()) == {"success"}

    asked = begin(airflow, 2)
    impatient = begin(airflow, 2, "impatient")
    put = question(airflow, asked)
    assert (put["subject"], put["options"]) == (
        "Publish shop [2024-01-02, 2024-01-03) although a check failed?",
        ["Publish", "Keep it held"],
    )
    assert "expect_column_values_to_be_between" in put["body"]
    assert "2024-01-02T00:00:00Z  2024-01-02T12:00:00Z  -1" in put["body"]
    assert [state for state, _ in told(home)] == ["published", "held"]
    assert published(home) == half_days([1])

    answer(airflow, asked, "Publish", "a strike")
    assert set(until(airflow, asked, "success", "failed").values()) == {"success"}
    assert published(home) == sorted([*half_days([1]), ("ann", 1, -1), ("bob", 1, 2)])
    (_, _), (state, despite) = told(home)
    assert state == "published"
    assert (despite or "").endswith("; admin: a strike")
    report = airflow.api.get(f"{asked}/taskInstances/publish/xcomEntries/return_value")["value"]["report"]
    assert report["despite"]["reason"] == "a strike"

    write_day(project, 2, WORSE)
    again = begin(airflow, 2)
    assert "-5" in question(airflow, again)["body"]
    answer(airflow, again, "Keep it held", "")
    tasks = until(airflow, again, "failed", "success")
    assert (tasks["ask"], tasks["publish"]) == ("failed", "upstream_failed")
    assert published(home) == sorted([*half_days([1]), ("ann", 1, -1), ("bob", 1, 2)])
    assert [state for state, _ in told(home)] == ["published", "held"]

    tasks = until(airflow, impatient, "failed", "success")
    assert (tasks["ask"], tasks["publish"]) == ("failed", "upstream_failed")
    assert [state for state, _ in told(home, "impatient")] == ["held"]
