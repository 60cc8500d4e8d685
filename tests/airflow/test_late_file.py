"""A real scheduler: a file lands late in an old folder, and the next run of the schedule mends its window, while a backfill runs.

minute      0     1     2     3   ...    a run each, by the schedule
file        b                            lands when three runs are over: a run behind them reads it, and nobody named the minute
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from examples.demo.api import Api
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling
from examples.demo.watch import Inspection
from muntin import read, run
from muntin.cli.place import load_pipeline
from muntin.tasks import Local
from tests.airflow.project import making_runs
from tests.case_counts import at_length

MINUTE = timedelta(minutes=1)
DEFINITION = """
from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

clicks = Pipeline(
    name="clicks",
    source=sources.files("{folder}/data/{{start:%H%M}}/*.csv", event_time="at", missing="empty", types={{"n": "BIGINT"}}),
    schedule="1m",
    start=datetime.fromisoformat("{start}"),
    windows={{"minute": windows.tumbling("1m"), "visit": windows.session("90s", allowed_lateness="1h")}},
    aggregates={{"count": agg.count(), "n": agg.sum("n")}},
)

dag = airflow_dag(clicks, spark=None, catchup=True)
"""


@dataclass
class Clicks:
    """A project whose files are of minutes, in a folder each."""

    folder: Path
    start: datetime

    def write(self, minute: int, name: str, n: int) -> None:
        at = self.start + minute * MINUTE
        path = self.folder / f"data/{at:%H%M}/{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"at,n\n{at + timedelta(seconds=n):%Y-%m-%dT%H:%M:%SZ},{n}\n")
        os.utime(path, (1, 1))  # written long ago, it is whole


@pytest.fixture
def clicks(tmp_path: Path) -> Clicks:
    made = Clicks(tmp_path / "project", datetime.now(UTC).replace(second=0, microsecond=0) - 3 * MINUTE)
    for minute in range(3):
        made.write(minute, "a", minute + 1)
    (made.folder / "dags").mkdir()
    (made.folder / "dags/clicks.py").write_text(DEFINITION.format(folder=made.folder, start=made.start.isoformat()))
    return made


@pytest.fixture
def home(tmp_path: Path, clicks: Clicks) -> Home:
    return making_runs(make_home(tmp_path / "home", state=tmp_path / "state"), clicks.folder)


@pytest.fixture
def airflow(home: Home) -> Iterator[Airflow]:
    with database(home) as postgres:
        migrate(home, postgres)
        with scheduling(home, "clicks", postgres) as running:
            yield running


def scheduled(api: Api) -> list[str]:
    """The states of the runs of the schedule."""
    runs = api.get("dags/clicks/dagRuns?limit=100")["dag_runs"]
    return [each["state"] for each in runs if each["run_type"] == "scheduled"]


def published(home: Home, root: Path) -> dict[str, list[tuple[datetime, int]]]:
    pipeline = load_pipeline(Path(home.env["MUNTIN_HOME"], "dags/clicks.py"))
    tables = {name: read(pipeline, name, root=root).to_pylist() for name in pipeline.windows}
    return {name: [(row["window_start"], row["n"]) for row in rows] for name, rows in tables.items()}


def after(airflow: Airflow, count: int) -> None:
    """Wait until so many runs of the schedule are over, all of them well."""
    airflow.follow(lambda api: Inspection(scheduled(api).count("success") >= count, str(scheduled(api))))
    assert "failed" not in scheduled(airflow.api)


@at_length
@pytest.mark.timeout(900)
def test_the_next_run_of_the_schedule_mends_an_old_window(airflow: Airflow, home: Home, clicks: Clicks, tmp_path: Path) -> None:
    after(airflow, 3)
    before = published(home, home.state)["minute"]
    clicks.write(0, "b", 30)
    ends = {"from_date": clicks.start.isoformat(), "to_date": (clicks.start + 2 * MINUTE).isoformat()}
    airflow.api.post("backfills", {"dag_id": "clicks", "max_active_runs": 2, "reprocess_behavior": "completed", **ends})
    after(airflow, len(scheduled(airflow.api)) + 1)
    assert [n for _, n in before] == [1, 2, 3]
    pipeline = load_pipeline(clicks.folder / "dags/clicks.py")
    run(pipeline, root=tmp_path / "clean", start=clicks.start, end=clicks.start + 4 * MINUTE, spark=Local(2))
    clean, now = published(home, tmp_path / "clean"), published(home, home.state)
    assert now["minute"] == clean["minute"] == [(clicks.start + at * MINUTE, n) for at, n in enumerate((31, 2, 3))]
    assert now["visit"][:1] == clean["visit"][:1]
