"""What whole runs send to PostgreSQL, through Airflow's connection."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from muntin import airflow_dag, sinks
from muntin.cli.place import load_pipeline
from tests.airflow.inside.test_runs import result, states
from tests.postgres_server import database, postgres

__all__ = ["database", "postgres"]  # pytest looks for them here

pytestmark = pytest.mark.usefixtures("spark_server")


def test_a_server_that_is_down_fails_no_task_and_gets_all_later(
    dags: dict[str, Any], run_day: Callable[..., Any], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = dags["shop"].fileloc
    dag = airflow_dag(replace(load_pipeline(Path(file)), to=sinks.postgres("warehouse", table="halves", window="half_day")))
    dag.fileloc = file
    monkeypatch.setitem(dags, "shop", dag)
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", "postgres://me:geheim@127.0.0.1:9/nowhere")
    first = run_day(1)
    assert set(states(first).values()) == {"success"}
    (line,) = result(first, "publish")["sinks"]
    assert line.startswith("half_day not sent to table halves at warehouse (127.0.0.1:9/nowhere: connection")
    assert "geheim" not in line

    facts = psycopg.conninfo.conninfo_to_dict(database)
    connection = {"conn_type": "postgres", "host": facts["host"], "login": facts["user"], "schema": facts["dbname"]}
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps(connection))
    second = run_day(2)
    assert set(states(second).values()) == {"success"}
    (line,) = result(second, "publish")["sinks"]
    assert line.endswith("changes of half_day sent to table halves at warehouse; it is at version 1")
    with psycopg.connect(database) as connection:
        starts = connection.execute("SELECT DISTINCT window_start::date::text FROM halves ORDER BY 1").fetchall()
        assert starts == [("2024-01-01",), ("2024-01-02",)]
