"""A small project as a user has it: a definition in dags/, data in data/, a suite in expectations/."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from examples.demo.home import Home

DEFINITION = """
from datetime import UTC, datetime

from muntin import Limits, Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

shop = Pipeline(
    name="shop",
    source=sources.files("data/{start:%Y-%m-%d}.csv", event_time="at", types={"amount": "BIGINT"}),
    schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["who"],
    windows={"half_day": windows.tumbling("12h"), "two_days": windows.sliding("2d", step="1d")},
    aggregates={"n": agg.count(), "total": agg.sum("amount")},
    expectations={"half_day": "expectations/half_day.json"},
)

dag = airflow_dag(shop)
"""

DOWNSTREAM = """
from airflow.sdk import DAG, task

from muntin.extensions.airflow import window_asset

with DAG("after_shop", schedule=[window_asset("shop", "half_day")]):

    @task
    def look(triggering_asset_events=None): ...

    look()
"""

TOTALS = """
from shop import shop

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

totals = Pipeline(
    name="totals",
    source=sources.windows(shop, "half_day", event_time="window_start"),
    schedule="@daily",
    start=shop.start,
    windows={"day": windows.tumbling("1d")},
    aggregates={"n": agg.sum("n"), "total": agg.sum("total")},
)

dag = airflow_dag(totals)
"""

SUITE = {
    "name": "half_day",
    "expectations": [
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "total", "min_value": 0}, "severity": "critical"},
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "max_value": 50}, "severity": "warning"},
    ],
}

# Of each day: who, hour, amount. A day has a morning and an afternoon.
DAYS: Mapping[int, Sequence[tuple[str, int, int]]] = {
    1: [("ann", 1, 10), ("ann", 2, 20), ("bob", 13, 5)],
    2: [("ann", 3, 1), ("bob", 4, 2), ("bob", 23, 3)],
    3: [("ann", 11, 7), ("bob", 12, 8)],
    4: [("ann", 5, 100)],
}


def write_project(folder: Path) -> Path:
    """The whole project below a folder, with the data of every day."""
    files = {"shop": DEFINITION, "after_shop": DOWNSTREAM}
    for name, text in (*((f"dags/{name}.py", text) for name, text in files.items()), ("expectations/half_day.json", json.dumps(SUITE))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for day in DAYS:
        write_day(folder, day)
    return folder


def write_totals(folder: Path) -> None:
    """The pipeline over the shop's windows; its file finds the other's as Airflow has the DAG folder on the path."""
    (folder / "dags/totals.py").write_text(TOTALS, encoding="utf-8")


def write_day(folder: Path, day: int, rows: Sequence[tuple[str, int, int]] | None = None) -> None:
    """The data of a day of January 2024; without rows, its usual ones."""
    lines = [f"{who},2024-01-{day:02d}T{hour:02d}:00:00Z,{amount}" for who, hour, amount in (DAYS[day] if rows is None else rows)]
    file = folder / f"data/2024-01-{day:02d}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["who,at,amount", *lines]) + "\n", encoding="utf-8")


def half_days(days: Sequence[int]) -> list[tuple[str, int, int]]:
    """What the window half_day must hold once these days are published: who, rows, sum; by who and time."""
    found: dict[tuple[str, int, bool], list[int]] = {}
    for day in days:
        for who, hour, amount in DAYS[day]:
            found.setdefault((who, day, hour >= 12), []).append(amount)
    return [(who, len(amounts), sum(amounts)) for (who, _, _), amounts in sorted(found.items())]


def making_runs(home: Home, project: Path) -> Home:
    """Airflow's home whose scheduler makes runs of the DAGs of a project by itself."""
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE": "True",
        "MUNTIN_HOME": str(project),
    }
    return replace(home, env=home.env | settings)
