"""The real scheduler: a pipeline on a schedule, and one over its windows that is woken by their asset."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling, spark, until_spark
from examples.demo.watch import Inspection
from muntin import read
from muntin.cli.place import load_pipeline
from tests.airflow.project import DAYS, making_runs, write_project, write_totals
from tests.case_counts import at_length

LAST = 2
UNTIL = f"airflow_dag(shop, end_date=datetime(2024, 1, {LAST}, tzinfo=UTC))"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """The scheduler makes runs by itself here: of the shop's first days, and of what waits for their windows."""
    project = write_project(tmp_path / "project")
    write_totals(project)
    shop = project / "dags/shop.py"
    shop.write_text(shop.read_text(encoding="utf-8").replace("airflow_dag(shop)", UNTIL), encoding="utf-8")
    return making_runs(make_home(tmp_path / "home", state=tmp_path / "state"), project)


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with spark(home) as server, database(home) as postgres:
        migrate(home, postgres)
        until_spark(home, server)
        with scheduling(home, "totals", postgres, server) as running:
            yield running


def published(home: Home) -> list[tuple[int, int]]:
    """What there is of the second pipeline: rows and their sum, day by day."""
    if not Path(home.state, "totals").exists():
        return []
    totals = load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/totals.py"))
    return [(row["n"], row["total"]) for row in read(totals, "day", root=home.state).to_pylist()]


@at_length
@pytest.mark.timeout(1200)
def test_windows_wake_the_pipeline_over_them(airflow: Airflow, home: Home):
    wanted = [(len(rows), sum(amount for *_, amount in rows)) for day, rows in sorted(DAYS.items()) if day < LAST]

    airflow.follow(lambda _: Inspection((found := published(home)) == wanted, str(found)))

    runs = {dag: airflow.api.get(f"dags/{dag}/dagRuns")["dag_runs"] for dag in ("shop", "totals")}
    assert published(home) == wanted, runs
    assert {run["run_type"] for run in runs["totals"]} == {"asset_triggered"}
