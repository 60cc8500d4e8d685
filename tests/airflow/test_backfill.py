"""The real scheduler: a backfill, and the same days again after their data was mended; `make demo` has a week. No Airflow in here."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import httpx
import psutil
import pyarrow as pa
import pytest

from examples.demo.api import Api
from examples.demo.backfill import backfill
from examples.demo.background import Program, family_of, started
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling, spark, until_spark
from examples.demo.watch import Inspection
from muntin import read
from muntin.cli.place import load_pipeline
from tests.airflow.project import half_days, write_day, write_project
from tests.alerts.receivers import Webhook, webhook

LAST = 2
HOLD = """
import os
import time
from pathlib import Path


def hold(context):
    file = Path("{file}")
    if context["ti"].task_id == "publish" and file.exists():
        file.write_text(str(os.getpid()))
        while file.exists():
            time.sleep(0.2)
"""
"""The task `publish` waits before it begins, as long as a file is there; the file has its process then."""


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, hook: Webhook) -> Home:
    """A project that tells a webhook of rows in quarantine, and of runs that take longer than a second."""
    project = write_project(tmp_path / "project")
    file = project / "dags/shop.py"
    told = 'keys=["who"],\n    alerts=alerts.to("alerts", quarantined=0.1, silent_after="1s"),'
    text = file.read_text(encoding="utf-8").replace("from muntin import ", "from muntin import alerts, ", 1).replace('keys=["who"],', told)
    text = text.replace("airflow_dag(shop)", 'airflow_dag(shop, default_args={"on_execute_callback": hold})')
    file.write_text(HOLD.format(file=tmp_path / "hold") + text, encoding="utf-8")
    made = make_home(tmp_path / "home", state=tmp_path / "state")
    connection = json.dumps({"conn_type": "apprise", "extra": {"config": {"path": hook.address()}}})
    settings = {"AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"), "MUNTIN_HOME": str(project), "AIRFLOW_CONN_ALERTS": connection}
    return replace(made, env=made.env | settings)


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with spark(home) as server, database(home) as postgres:
        migrate(home, postgres)
        until_spark(home, server)
        with scheduling(home, "shop", postgres, server) as running:
            yield running


def reprocess(airflow: Airflow) -> None:
    """Run all days again, once Airflow takes another backfill."""
    days = {"from_date": "2024-01-01T00:00:00Z", "to_date": f"2024-01-{LAST:02d}T00:00:00Z"}
    airflow.follow(is_over)
    airflow.api.post("backfills", {"dag_id": "shop", "max_active_runs": LAST, "reprocess_behavior": "completed", **days})
    airflow.follow(is_over)


def producers(airflow: Airflow) -> dict[str, list[tuple[str, str]]]:
    """Airflow's list of assets, with the tasks that it shows for each."""
    assets = airflow.api.get("assets")["assets"]
    return {each["name"]: [(task["dag_id"], task["task_id"]) for task in each["producing_tasks"]] for each in assets}


def states(airflow: Airflow) -> list[str]:
    return [run["state"] for run in airflow.api.get("dags/shop/dagRuns")["dag_runs"]]


def is_over(api: Api) -> Inspection:
    backfills = api.get("backfills?dag_id=shop")["backfills"]
    tasks = api.get("dags/shop/dagRuns/~/taskInstances")["task_instances"]
    return Inspection(all(each["completed_at"] for each in backfills), str([task["state"] for task in tasks]))


def by_hand(airflow: Airflow, day: int) -> None:
    """Run a day again, by hand."""
    conf = {"interval_start": f"2024-01-{day:02d}T00:00:00Z"}
    run = airflow.api.post("dags/shop/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]

    def inspect(api: Api) -> Inspection:
        state = api.get(f"dags/shop/dagRuns/{run}")["state"]
        return Inspection(state in {"success", "failed"}, state)

    airflow.follow(inspect)


def asked(airflow: Airflow, first: int, last: int, behavior: str) -> int:
    """Ask for a backfill of some days, one after the other; its id."""
    airflow.follow(is_over)
    days = {"from_date": f"2024-01-{first:02d}T00:00:00Z", "to_date": f"2024-01-{last:02d}T00:00:00Z"}
    return int(airflow.api.post("backfills", {"dag_id": "shop", "max_active_runs": 1, "reprocess_behavior": behavior, **days})["id"])


def change(airflow: Airflow, method: str, path: str, body: dict[str, str] | None = None) -> None:
    headers = {"Authorization": f"Bearer {airflow.api.token}"}
    httpx.request(method, f"{airflow.api.url}/api/v2/{path}", headers=headers, json=body, timeout=60).raise_for_status()


def task_states(airflow: Airflow, day: int) -> dict[str, str]:
    tasks = airflow.api.get("dags/shop/dagRuns/~/taskInstances?limit=1000")["task_instances"]
    return {each["task_id"]: each["state"] for each in tasks if f"2024-01-{day + 1:02d}" in each["dag_run_id"]}  # named by its end


def cancelled_half_way(airflow: Airflow, home: Home, hold: Path) -> None:
    """A backfill of two more days is stopped while its first run is about to publish; then the days that failed run again."""
    before = rows(half_day(home))
    hold.touch()
    number = asked(airflow, LAST + 1, LAST + 2, "none")
    airflow.follow(lambda _: Inspection(bool(hold.read_text()), str(task_states(airflow, LAST + 1))))
    change(airflow, "PUT", f"backfills/{number}/cancel")
    (run,) = (each["dag_run_id"] for each in airflow.api.get("dags/shop/dagRuns")["dag_runs"] if each["state"] == "running")
    change(airflow, "PATCH", f"dags/shop/dagRuns/{run}", {"state": "failed"})
    process = int(hold.read_text())
    airflow.follow(lambda _: Inspection(not psutil.pid_exists(process), str(task_states(airflow, LAST + 1))))
    hold.unlink()
    assert rows(half_day(home)) == before
    assert states(airflow).count("failed") == 2

    asked(airflow, 1, LAST + 2, "failed")  # missing and errored
    airflow.follow(is_over)
    assert set(states(airflow)) == {"success"}
    assert rows(half_day(home)) == half_days(range(1, LAST + 2))  # the last day has no rows


def half_day(home: Home) -> pa.Table:
    return read(load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/shop.py")), "half_day", root=home.state)


def rows(table: pa.Table) -> list[tuple[str, int, int]]:
    return [(row["who"], row["n"], row["total"]) for row in table.to_pylist()]


@pytest.mark.timeout(1200)
def test_days_at_once_then_mended_and_reprocessed(airflow: Airflow, home: Home, hook: Webhook):
    project = Path(home.env["MUNTIN_HOME"])
    write_day(project, LAST, [("ann", 3, 1)])
    with (project / f"data/2024-01-{LAST:02d}.csv").open("a", encoding="utf-8") as file:
        file.write("bob,,1\n")

    backfill(airflow, "shop", date(2024, 1, 1), date(2024, 1, LAST), at_once=LAST)
    assert producers(airflow) == {f"shop/{window}": [("shop", "publish")] for window in ("half_day", "two_days")}
    assert states(airflow) == ["success"] * LAST
    assert rows(half_day(home)) != half_days(range(1, LAST + 1))
    (told,) = hook.wait()
    assert told["title"] == f"shop: backfill of {LAST} runs, 0 failed, 1 warning"

    write_day(project, LAST)
    reprocess(airflow)
    assert states(airflow) == ["success"] * LAST
    assert rows(half_day(home)) == half_days(range(1, LAST + 1))
    assert [told["title"] for told in hook.wait(2)[1:]] == [f"shop: backfill of {LAST} runs, 0 failed, well again"]

    by_hand(airflow, 1)
    assert [told["title"] for told in hook.wait(3)[2:]] == ["shop: silent"]
    assert len(hook.posted) == 3

    write_day(project, LAST + 2, [])
    cancelled_half_way(airflow, home, home.folder.parent / "hold")


def test_stopping_leaves_nothing(tmp_path: Path):
    command = ["bash", "-c", "trap '' INT; setsid sleep 1000 & sleep 1000 & wait"]
    with started(Program("sleepers", command, tmp_path / "log"), env={"PATH": "/usr/bin:/bin"}) as (program,):
        time.sleep(1)
        family = family_of(program.process.pid)
        assert len(family) == 3
    assert not any(each.is_running() for each in family)


def test_stopping_leaves_nothing_of_a_program_that_died_before(tmp_path: Path):
    command = ["bash", "-c", "(trap - INT; exec sleep 1000) & (trap - INT; exec sleep 1000) & wait"]
    with started(Program("sleepers", command, tmp_path / "log"), env={"PATH": "/usr/bin:/bin"}) as (program,):
        time.sleep(1)
        program.process.kill()
        program.process.wait()
        orphans = family_of(program.process.pid)
        assert len(orphans) == 2
    assert not any(each.is_running() for each in orphans)
