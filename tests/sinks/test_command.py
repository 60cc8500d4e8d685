"""`muntin status --sinks`, and what `run` and `status` say of sinks."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import DAYS, RANGE, Muntin, Project, muntin, without_spark

__all__ = ["muntin"]  # pytest looks for it here
NOWHERE = "postgresql://muntin:geheim@127.0.0.1:9/nowhere"
TO = 'to=[sinks.postgres("env:WAREHOUSE", table="quarters", window="quarter")],'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Its results go to a table, and the server is down."""
    project = Project(tmp_path)
    project.define(
        **{
            "import Pipeline, airflow_dag, sources": "import Pipeline, airflow_dag, sinks, sources",
            'keys=["sensor"],': f'keys=["sensor"], {TO}',
        }
    )
    for day in DAYS:
        project.bring(day)
    monkeypatch.setenv("WAREHOUSE", NOWHERE)
    with without_spark():
        yield project


def test_a_server_that_is_down_and_comes_back(muntin: Muntin, project: Project, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = muntin(*project.arguments("run", *RANGE))
    assert told.status == 0
    assert "sinks: quarter not sent to table quarters at env:WAREHOUSE (127.0.0.1:9/nowhere: connection" in told.out
    assert "geheim" not in told.out + told.err
    behind = "sinks: quarter is 1 version behind at table quarters at env:WAREHOUSE: 127.0.0.1:9/nowhere"
    assert behind in muntin(*project.arguments("status")).out
    assert muntin(*project.arguments("status", "--sinks", "--send")).status == 3

    monkeypatch.setenv("WAREHOUSE", database)
    told = muntin(*project.arguments("status", "--sinks", "--send"))
    assert told.status == 0
    lines = told.out.splitlines()
    assert lines[0] == "3 changes of quarter sent to table quarters at env:WAREHOUSE; it is at version 0"
    assert lines[-1].split()[:8] == ["quarter", "table", "quarters", "at", "env:WAREHOUSE", "0", "0", lines[-1].split()[7]]
    assert "sinks" not in muntin(*project.arguments("status")).out
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT sensor, total FROM quarters ORDER BY total").fetchall() == [("ä", 1), ("ö", 2), ("ä", 3)]


def test_one_document(muntin: Muntin, project: Project) -> None:
    muntin(*project.arguments("run", *RANGE))
    (sink,) = json.loads(muntin(*project.arguments("status", "--sinks", "--json")).out)
    assert (sink["window"], sink["sink"], sink["version"], sink["behind"]) == ("quarter", "table quarters at env:WAREHOUSE", None, 1)
    assert sink["failed"].startswith("127.0.0.1:9/nowhere: connection")


def test_all_windows_again(muntin: Muntin, project: Project, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", database)
    muntin(*project.arguments("run", *RANGE))
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE quarters SET total = 99")
    assert "changes" not in muntin(*project.arguments("status", "--sinks", "--send")).out
    assert "3 changes" in muntin(*project.arguments("status", "--sinks", "--send", "--anew")).out
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT max(total) FROM quarters").fetchone() == (3,)
    assert muntin(*project.arguments("status", "--sinks", "--anew")).status == 2


def test_windows_that_a_sink_refuses(muntin: Muntin, project: Project, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", database)
    muntin(*project.arguments("run", *RANGE))
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE quarters ADD CONSTRAINT small CHECK (total < 3) NOT VALID")
    told = muntin(*project.arguments("status", "--sinks", "--send", "--anew"))
    assert told.status == 4
    assert "2 changes of quarter sent to table quarters at env:WAREHOUSE; it is at version 0; 1 window left out: {" in told.out
    assert 'quarter in table quarters at env:WAREHOUSE: 1 window not as published\n  {"sensor":"ä",' in told.out
    assert 'column total: new row for relation "quarters" violates check constraint "small"' in told.out
    assert muntin(*project.arguments("status", "--sinks")).status == 4
    ((misfit,),) = (sink["misfits"] for sink in json.loads(muntin(*project.arguments("status", "--sinks", "--json")).out))
    assert (misfit["column"], misfit["replaced"]) == ("total", False)
    assert "sinks: 1 window of quarter not as published at table quarters" in muntin(*project.arguments("status")).out
    assert muntin(*project.arguments("run", *RANGE)).status == 4


def test_a_definition_without_sinks(muntin: Muntin, project: Project) -> None:
    project.define()
    muntin(*project.arguments("run", *RANGE))
    assert muntin(*project.arguments("status", "--sinks")).out == "sensors: the definition has no sinks; write Pipeline(..., to=[...])\n"
