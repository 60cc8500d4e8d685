"""A whole run whose state lies in an object store: Airflow's tasks have the credentials of a connection, Spark's workers their own."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.demo.servers import spark, until_spark
from muntin import read
from tests.airflow.inside.conftest import home_without_token
from tests.airflow.inside.test_runs import states
from tests.airflow.project import half_days
from tests.object_store import KEY, SECRET, AnyServer, object_store

__all__ = ["object_store"]  # pytest looks for it here


@pytest.fixture
def root_in_bucket(object_store: AnyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A root; a Spark Connect server that can reach it; and the connection by which tasks of Airflow can."""
    home = home_without_token(tmp_path)
    with spark(replace(home, env=home.env | object_store.environment)) as server:
        until_spark(home, server)
        bucket = object_store.new_bucket()
        extra = {"endpoint_url": object_store.environment["AWS_ENDPOINT_URL"], "region_name": "us-east-1"}
        storage = {"conn_type": "aws", "login": KEY, "password": SECRET, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_MUNTIN_STORAGE", json.dumps(storage))
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", home.env["AIRFLOW_CONN_SPARK_DEFAULT"])
        with monkeypatch.context() as ours:  # what a task puts into the environment is gone behind the test
            for name in object_store.environment:
                ours.setenv(name, "")
                del os.environ[name]
            yield f"{bucket}/state"


def test_a_day_and_the_day_after(
    dags: dict[str, Any],
    run_day: Callable[..., Any],
    root_in_bucket: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from muntin.cli.place import load_pipeline

    monkeypatch.setenv("MUNTIN_ROOT", root_in_bucket)
    for day in (1, 2):
        assert set(states(run_day(day)).values()) == {"success"}
    table = read(load_pipeline(Path(dags["shop"].fileloc)), "half_day", root=root_in_bucket)
    assert [(row["who"], row["n"], row["total"]) for row in table.to_pylist()] == half_days([1, 2])
    assert SECRET not in caplog.text
