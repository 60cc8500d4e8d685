"""The real scheduler: a backfill, and the same days again after their data was mended. No Airflow in this process."""

import time
import urllib.error
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from examples.demo.api import Api
from examples.demo.background import family_of
from examples.demo.home import Home, make_home
from examples.demo.servers import migrate, spark, standalone
from pipelines import read
from pipelines.cli.definition import load_pipeline
from tests.airflow.project import half_days, write_day, write_project

LAST = 3


@pytest.fixture
def home(tmp_path: Path) -> Home:
    project = write_project(tmp_path / "project")
    made = make_home(tmp_path / "home", state=tmp_path / "state")
    settings = {"AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"), "MUNTIN_HOME": str(project)}
    return replace(made, env=made.env | settings)


@pytest.fixture
def api(home: Home) -> Iterator[Api]:
    migrate(home)
    with spark(home) as is_up, standalone(home, "shop") as signed_in:
        is_up()
        yield signed_in


def create(api: Api, body: dict[str, Any]) -> None:
    """Again while the SQLite database is busy: Airflow cleans up then, or has created it all the same (409)."""
    for _ in range(20):
        try:
            return api.post("backfills", body)
        except urllib.error.HTTPError as refused:
            if refused.code not in (409, 500, 503):
                raise
            if refused.code == 409 and not all(each["completed_at"] for each in api.get("backfills?dag_id=shop")["backfills"]):
                return None
            time.sleep(1)
    pytest.fail("Airflow's database is busy all the time")


def backfill(api: Api, **options: Any) -> list[str]:
    """Create one over all days and wait until it is over; the states of its runs."""
    days = {"from_date": "2024-01-01T00:00:00Z", "to_date": f"2024-01-{LAST:02d}T00:00:00Z"}
    create(api, {"dag_id": "shop", "max_active_runs": LAST, **days, **options})
    while True:
        backfills = api.get("backfills?dag_id=shop")["backfills"]
        if all(each["completed_at"] for each in backfills):
            return [run["state"] for run in api.get("dags/shop/dagRuns")["dag_runs"]]
        time.sleep(1)


def half_day(home: Home) -> pa.Table:
    return read(load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/shop.py")), "half_day", root=home.state)


def rows(table: pa.Table) -> list[tuple[str, int, int]]:
    return [(row["who"], row["n"], row["total"]) for row in table.to_pylist()]


@pytest.mark.timeout(900)
def test_days_at_once_then_mended_and_reprocessed(api: Api, home: Home):
    project = Path(home.env["MUNTIN_HOME"])
    write_day(project, 2, [("ann", 3, 1)])

    assert backfill(api) == ["success"] * LAST
    assert rows(half_day(home)) != half_days(range(1, LAST + 1))

    write_day(project, 2)
    assert backfill(api, reprocess_behavior="completed") == ["success"] * LAST
    assert rows(half_day(home)) == half_days(range(1, LAST + 1))


def test_stopping_leaves_nothing(tmp_path: Path):
    from examples.demo.background import started

    command = ["bash", "-c", "trap '' INT; setsid sleep 1000 & sleep 1000 & wait"]
    with started(command, {"PATH": "/usr/bin:/bin"}, tmp_path / "log") as program:
        time.sleep(1)
        family = family_of(program.pid)
        assert len(family) == 3
    assert not any(each.is_running() for each in family)
