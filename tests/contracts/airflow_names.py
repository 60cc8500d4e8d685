"""Airflow: what a new minor version may move without a word. `test_airflow.py` runs this file in a process of its own."""

import multiprocessing
from datetime import UTC, datetime, timedelta
from inspect import getsource, signature
from types import SimpleNamespace

import pytest
from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.gx]


@pytest.fixture(scope="module", autouse=True)
def _database() -> None:
    from airflow.utils.db import initdb

    initdb()


def test_a_dag_says_in_which_file_it_is() -> None:
    dag = DAG("some", schedule=None)
    assert dag.fileloc == __file__, "the file of who calls DAG"
    dag.fileloc = "/dags/other.py"
    assert dag.fileloc == "/dags/other.py"


def test_a_dag_takes_a_deadline_after_it_was_made() -> None:
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback
    from airflow.serialization.serialized_objects import DagSerialization

    dag = DAG("some", schedule=None)
    assert dag.deadline is None
    dag.deadline = [DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, timedelta(hours=1), SyncCallback("builtins.print"))]
    assert len(DagSerialization.serialize_dag(dag)["deadline"]) == 1


def test_a_task_is_asked_to_stop_by_its_on_kill() -> None:
    from airflow.sdk.execution_time import task_runner

    assert "on_kill" in {name for function in vars(task_runner).values() if callable(function) for name in names_in(function)}


def names_in(function: object) -> set[str]:
    """The names that a function and the functions in it use."""
    code, found = getattr(function, "__code__", None), set[str]()
    todo = [code] if code else []
    while todo:
        one = todo.pop()
        found |= {*one.co_names}
        todo += [each for each in one.co_consts if hasattr(each, "co_names")]
    return found


def test_a_task_emits_an_event_without_a_key_beside_its_keys() -> None:
    """`tests/airflow/test_partitions.py` has DAGs that wait for either."""
    from airflow.sdk import Asset
    from airflow.sdk.execution_time.context import OutletEventAccessors
    from airflow.sdk.execution_time.task_runner import _serialize_outlet_events

    events, asset = OutletEventAccessors(), Asset(name="some", uri="muntin://some/window")
    events[asset].add_partitions(["2024-01-01T00:00:00"])
    events[asset].partition_keys |= {None}
    assert {each["partition_key"] for each in _serialize_outlet_events(events)} == {"2024-01-01T00:00:00", None}


def test_a_task_emits_for_the_outlets_that_it_has_at_its_end() -> None:
    """`tests/airflow/inside/test_runs.py` has whole runs, of which some emit nothing."""
    from airflow.sdk.execution_time import task_runner

    text = getsource(task_runner)
    assert "_build_asset_profiles(ti.task.outlets)" in text
    assert 'context["task"] = ti.task' in text


def test_a_task_counts_runs_and_knows_where_its_log_is() -> None:
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    assert {"dag_id", "run_ids", "states"} <= {*signature(RuntimeTaskInstance.get_dr_count).parameters}
    told = SimpleNamespace(run_id="r", map_index=-1, try_number=1, dag_id="d", task_id="t")
    assert "/dags/d/runs/r/tasks/t" in RuntimeTaskInstance.log_url.fget(told)


def test_an_executor_says_whether_it_forks() -> None:
    from airflow.executors.local_executor import LocalExecutor

    assert LocalExecutor(parallelism=1).is_mp_using_fork is (multiprocessing.get_start_method() == "fork")
    assert callable(LocalExecutor.start)


def test_lineage_is_collected_of_a_task() -> None:
    from airflow.sdk.lineage import HookLineageCollector, get_hook_lineage_collector

    for add in ("add_input_asset", "add_output_asset"):
        assert {"context", "uri"} <= {*signature(getattr(HookLineageCollector, add)).parameters}
        getattr(get_hook_lineage_collector(), add)(object(), uri="file:///some")


def test_metrics_have_names_that_receivers_take() -> None:
    from airflow.sdk.configuration import conf
    from airflow.sdk.observability import stats

    assert stats.normalize_name_for_stats("a/b", log_warning=False) == "a_b"
    for send in (stats.incr, stats.gauge):
        assert "tags" in signature(send).parameters
    assert conf.getboolean("metrics", "legacy_names_on", fallback=True) in (True, False)


def test_the_database_knows_dags_tasks_and_what_tasks_returned() -> None:
    from muntin.extensions.airflow.page_facts import definition_files, runs_that_published

    assert definition_files() == {}
    assert runs_that_published("d", "w", 0, datetime(2024, 1, 1, tzinfo=UTC)) == []
    from muntin.extensions.airflow.page_runs import around

    assert (around(["d"]).runs, around(["d"]).paused) == ({"d": []}, frozenset())


def test_health_tells_of_each_part() -> None:
    from airflow.api.common.airflow_health import get_airflow_health

    health = get_airflow_health()
    assert {health["scheduler"]["status"], health["dag_processor"]["status"]} <= {"healthy", "unhealthy", None}
    assert "latest_scheduler_heartbeat" in health["scheduler"]
    assert "latest_dag_processor_heartbeat" in health["dag_processor"]


def test_a_page_asks_who_may_read_a_dag() -> None:
    from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag

    assert GetUserDep.__metadata__[0].dependency is not None
    assert [*signature(requires_access_dag("GET", param_dag_id="d")).parameters] == ["request", "user"]
