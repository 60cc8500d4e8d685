"""`airflow_dag(..., spark=None)`: the four tasks in Airflow's own worker, without Java; and a user's own `dags/pipelines/`."""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, airflow_dag, read, sources
from muntin.cli.place import load_pipeline
from muntin.errors import DefinitionError
from tests.airflow.project import DEFINITION, half_days
from tests.case_counts import at_length
from tests.metric_receivers import lineage_events

ALONE = (
    DEFINITION.replace('name="shop"', 'name="alone"')
    .replace("airflow_dag(shop)", "airflow_dag(shop, spark=None)")
    .replace('tumbling("12h")', "tumbling(HALF)")
    .replace("from muntin import aggregates", "from pipelines.sizes import HALF\n\nfrom muntin import aggregates")
)


@pytest.fixture(scope="session")
def project(project: Path) -> Path:
    """The project, with a definition of its own for this file, and a package that has the name of the product's folder."""
    (project / "dags/pipelines").mkdir()
    (project / "dags/pipelines/__init__.py").touch()
    (project / "dags/pipelines/sizes.py").write_text('HALF = "12h"\n', encoding="utf-8")
    (project / "dags/alone.py").write_text(ALONE, encoding="utf-8")
    sys.path.append(str(project / "dags"))  # as Airflow's DAG processor and its task runner do
    return project


def test_the_tasks_run_in_the_worker(dags: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    def started(_: object) -> None:
        pytest.fail("Spark was started")

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", started)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    run = dags["alone"].test(logical_date=datetime(2024, 1, 2, tzinfo=UTC))
    assert {each.task_id: str(each.state) for each in run.get_task_instances()} == dict.fromkeys(
        ("accumulate", "finalize", "validate", "publish"), "success"
    )
    table = read(load_pipeline(Path(dags["alone"].fileloc)), "half_day", root=root)
    assert [(row["who"], row["n"], row["total"]) for row in table.to_pylist()] == half_days([1])


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What OpenLineage's provider sends, as Airflow's configuration tells it."""
    with lineage_events() as (port, found):
        transport = {"type": "http", "url": f"http://127.0.0.1:{port}"}
        monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps(transport))
        read_anew()
        yield found
        monkeypatch.undo()
        read_anew()


def read_anew() -> None:
    """Let the provider look at its configuration again: a process asks once."""
    from airflow.providers.openlineage import conf

    for each in vars(conf).values():
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def test_openlineage_is_sent_the_columns_that_results_are_made_of(
    dags: dict[str, Any], root: Path, project: Path, events: list[Any]
) -> None:
    dags["alone"].test(logical_date=datetime(2024, 1, 2, tzinfo=UTC))
    (event,) = (each for each in events if each["eventType"] == "RUNNING")  # the provider tells begin and end itself
    assert event["job"]["name"] == "alone.publish"
    sent = {each["name"]: each["facets"]["columnLineage"]["fields"] for each in event["outputs"]}
    assert {*sent} == {f"{root}/alone/windows/half_day", f"{root}/alone/windows/two_days"}
    for columns in sent.values():
        made_of = {name: {(each["name"], each["field"]) for each in column["inputFields"]} for name, column in columns.items()}
        assert (made_of["who"], made_of["window_start"]) == ({(f"{project}/data", "who")}, {(f"{project}/data", "at")})
        ways = {(each["field"], way["subtype"]) for each in columns["total"]["inputFields"] for way in each["transformations"]}
        assert ways >= {("amount", "AGGREGATION"), ("who", "GROUP_BY"), ("at", "WINDOW")}


@at_length
def test_spark_computes_the_same(dags: dict[str, Any], root: Path, run_day: Callable[..., Any]) -> None:
    dags["alone"].test(logical_date=datetime(2024, 1, 2, tzinfo=UTC))
    run_day(1)
    ours, theirs = (read(load_pipeline(Path(dags[name].fileloc)), "half_day", root=root) for name in ("alone", "shop"))
    assert ours.equals(theirs)


def test_a_definition_that_needs_spark_is_refused(dags: dict[str, Any]) -> None:
    def rows(*_: object) -> None: ...

    shop = load_pipeline(Path(dags["shop"].fileloc))
    needs = Pipeline(
        name="needs",
        source=sources.spark(rows, event_time="at"),
        schedule="@daily",
        start=shop.start,
        windows={"half_day": shop.windows["half_day"]},
        aggregates=dict(shop.aggregates),
    )
    with pytest.raises(DefinitionError, match=r"needs, spark=None: sources.spark needs Spark; leave spark= out"):
        airflow_dag(needs, spark=None)
