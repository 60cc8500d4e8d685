"""Without any connection, Spark is local: a run as a newcomer has it."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import read
from muntin.errors import DefinitionError
from muntin.extensions.airflow.place import home_of, interval_of, root_of
from muntin.extensions.airflow.spark import local_settings
from tests.airflow.project import half_days


def test_a_run_without_a_connection_is_local(
    run_day: Callable[..., Any], dags: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
):
    from pyspark.sql import SparkSession

    from muntin.cli.place import load_pipeline

    begin, begun = SparkSession.Builder.getOrCreate, list[str]()

    def counted(builder: Any) -> Any:
        session = begin(builder)
        begun.append(session.sparkContext.appName)
        return session

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", counted)
    run = run_day(1)

    assert {str(each.state) for each in run.get_task_instances()} == {"success"}
    table = read(load_pipeline(Path(dags["shop"].fileloc)), "half_day", root=root)
    assert [(row["who"], row["n"], row["total"]) for row in table.to_pylist()] == half_days([1])
    assert begun == ["shop-accumulate", "shop-finalize"]
    run_day(1)
    assert begun[2:] == ["shop-accumulate"]  # whose windows are published: there is nothing to finalize


def test_workers_run_the_python_that_the_connection_names(
    run_day: Callable[..., Any], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    python, ran = tmp_path / "python", tmp_path / "ran"
    python.write_text(f'#!/bin/sh\ntouch {ran}\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {**local_settings(), "spark.pyspark.python": str(python)}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]", "extra": settings}))

    run = run_day(1)

    assert {str(each.state) for each in run.get_task_instances()} == {"success"}
    assert ran.exists()


def test_a_definition_that_does_not_fit_fails_before_spark(
    run_day: Callable[..., Any], project: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    from pyspark.sql import SparkSession

    started: list[str] = []
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda _: started.append("Spark"))
    (project / "data/2024-01-01.csv").write_text("who;at;amount\nann;2024-01-01T01:00:00Z;1\n", encoding="utf-8")

    run = run_day(1)

    assert {each.task_id: str(each.state) for each in run.get_task_instances()} == {
        "accumulate": "failed",
        "finalize": "upstream_failed",
        "validate": "upstream_failed",
        "publish": "upstream_failed",
    }
    assert not started
    assert not any(root.glob("shop/*/frames"))


def test_home_is_the_folder_that_holds_dags(monkeypatch: pytest.MonkeyPatch):
    assert home_of("/a/dags/x.py") == Path("/a")
    assert home_of("/a/dags/team/x.py") == Path("/a")
    assert home_of("/a/definitions/x.py") == Path("/a")
    monkeypatch.setenv("MUNTIN_HOME", "/home")
    assert home_of("/a/dags/x.py") == Path("/home")


def test_the_root_is_given_or_named_or_state(monkeypatch: pytest.MonkeyPatch):
    assert root_of(Path("/a"), None) == Path("/a/state")
    monkeypatch.setenv("MUNTIN_ROOT", "/elsewhere")
    assert root_of(Path("/a"), None) == Path("/elsewhere")
    assert root_of(Path("/a"), "mine") == Path("/a/mine")


class Run:
    run_id, data_interval_start, data_interval_end = "manual__1", None, None
    partition_key, partition_date = None, None


@pytest.mark.parametrize(
    ("params", "wrong"),
    [
        ({}, "run manual__1 has no data interval.*trigger it with the parameter interval_start"),
        ({"interval_end": "2024-01-02T00:00:00Z"}, "interval_end .* was given and no interval_start"),
        ({"interval_start": "2024-01-01T06:00:00Z"}, "is not a border of the schedule"),
        ({"interval_start": "2024-01-01T00:00:00"}, "has no time zone"),
        ({"interval_start": "2023-01-01T00:00:00Z"}, "lies before the pipeline's own start"),
        ({"interval_start": "2024-01-01T00:00:00Z", "interval_end": "2024-01-03T00:00:00Z"}, "2 were asked for; create a backfill"),
    ],
)
def test_an_interval_that_cannot_be_is_refused(project: Path, params: dict[str, str], wrong: str):
    from muntin.cli.place import load_pipeline

    shop = load_pipeline(project / "dags/shop.py")
    with pytest.raises(DefinitionError, match=wrong):
        interval_of(shop, {"params": params, "dag_run": Run})


@pytest.mark.parametrize(
    ("key", "date", "day"),
    [
        ("2024-01-02", None, 2),
        ("2024-01-03T23:59:59", None, 3),
        ("2024-01-03T00:30:00+01:00", None, 2),
        ("2024-W01", datetime(2024, 1, 4, tzinfo=UTC), 4),
    ],
)
def test_a_run_of_a_partition_is_about_the_interval_that_holds_its_instant(project: Path, key: str, date: datetime | None, day: int):
    from muntin.cli.place import load_pipeline

    run = type("OfKey", (Run,), {"partition_key": key, "partition_date": date})
    found = interval_of(load_pipeline(project / "dags/shop.py"), {"params": {}, "dag_run": run})
    assert str(found) == f"[2024-01-{day:02d}, 2024-01-{day + 1:02d})"


def test_a_partition_that_is_no_instant_is_refused(project: Path):
    from muntin.cli.place import load_pipeline

    run = type("OfKey", (Run,), {"partition_key": "berlin"})
    with pytest.raises(DefinitionError, match=r"partition 'berlin', which is no instant.*interval_start"):
        interval_of(load_pipeline(project / "dags/shop.py"), {"params": {}, "dag_run": run})
