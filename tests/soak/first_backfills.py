"""The first backfill of a DAG on a fresh database of Airflow's, again and again: its first runs end together, and none may be red.

PostgreSQL's server stays; each time Airflow has a new database, a copy of one with nothing but its tables, and is started anew.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

import psycopg2

from examples.demo.api import Api
from examples.demo.backfill import create
from examples.demo.background import Component
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling
from examples.demo.watch import Inspection
from tests.airflow.project import DAYS, DEFINITION, write_day

TIMES = 50
FIRST = date(2024, 1, 1)
DEFINITION_HERE = DEFINITION.replace('    expectations={"half_day": "expectations/half_day.json"},\n', "").replace(
    "airflow_dag(shop)", "airflow_dag(shop, spark=None)"
)


def first_backfills(folder: Path, _dice: Random, *, times: int = TIMES) -> str:
    """So many first backfills, each of four days at once; says how many had a red run.

    Raises:
        AssertionError: some had, or Airflow does not know which task produces the windows.
    """
    project = _project(folder / "project")
    made = make_home(folder / "home", state=folder / "state")
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"),
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "0",
        "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",  # its web server is slow on a machine at work, which is another matter
        "MUNTIN_HOME": str(project),
    }
    home, red = replace(made, env=made.env | settings), []
    with database(home) as server:
        migrate(home, server)
        for number in range(times):
            shutil.rmtree(home.state, ignore_errors=True)
            red += [f"backfill {number + 1}: {run}" for run in _backfill(home, server)]
            print(f"  {number + 1} first backfills, {len(red)} red runs", *red[-1:], flush=True)
    assert not red, f"{len(red)} red runs in {times} first backfills: {'; '.join(red)}"
    return f"{times} first backfills, no red run"


def _project(folder: Path) -> Path:
    (folder / "dags").mkdir(parents=True)
    (folder / "dags/shop.py").write_text(DEFINITION_HERE, encoding="utf-8")
    for day in DAYS:
        write_day(folder, day)
    return folder


def _backfill(home: Home, server: Component) -> list[str]:
    """The red runs of a first backfill; of none the assets are looked at, too."""
    with _fresh(home) as fresh, scheduling(fresh, "shop", server) as airflow:
        create(airflow, "shop", FIRST, FIRST + timedelta(days=len(DAYS) - 1), "--max-active-runs", str(len(DAYS)))
        airflow.follow(_ended)
        runs = airflow.api.get("dags/shop/dagRuns")["dag_runs"]
        red = [f"{run['dag_run_id']} {run['state']}" for run in runs if run["state"] != "success"]
        if not red:
            _check_assets(airflow)
    return red


@contextmanager
def _fresh(home: Home) -> Iterator[Home]:
    """Airflow with a database that nobody has used."""
    _admin(home, "CREATE DATABASE fresh TEMPLATE postgres")
    try:
        yield replace(
            home, env=home.env | {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://postgres@/fresh?host={home.database}"}
        )
    finally:
        _admin(home, "DROP DATABASE fresh WITH (FORCE)")


def _admin(home: Home, statement: str) -> None:
    session = psycopg2.connect(f"postgresql://postgres@/template1?host={home.database}")
    session.autocommit = True
    with session.cursor() as cursor:
        cursor.execute(statement)
    session.close()


def _ended(api: Api) -> Inspection:
    runs = [run["state"] for run in api.get("dags/shop/dagRuns")["dag_runs"]]
    tasks = api.get("dags/shop/dagRuns/~/taskInstances")["task_instances"]
    return Inspection(len(runs) == len(DAYS) and {*runs} <= {"success", "failed"}, str([task["state"] for task in tasks]))


def _check_assets(airflow: Airflow) -> None:
    """See that each window is an asset with its task, and with events."""
    assets = {each["name"]: each for each in airflow.api.get("assets")["assets"]}
    found = {name: [(task["dag_id"], task["task_id"]) for task in each["producing_tasks"]] for name, each in assets.items()}
    assert found == {f"shop/{window}": [("shop", "publish")] for window in ("half_day", "two_days")}, found
