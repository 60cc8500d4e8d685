"""What is done when a process is ended: Spark's jobs are stopped, wherever they run, and a task of Airflow leaves with a status."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.extensions.airflow.tasks import end_when_killed
from muntin.spark.stopping import stop_jobs


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Both kinds of session; what was called of them."""
    called: list[str] = []
    context = SimpleNamespace(cancelAllJobs=lambda: called.append("local"))
    session = SimpleNamespace(interruptAll=lambda: called.append("connect"))
    classic, connect = SimpleNamespace(_active_spark_context=context), SimpleNamespace(_default_session=session)
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(SparkContext=classic))
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", SimpleNamespace(SparkSession=connect))
    return {"called": called, "context": context, "session": session, "classic": classic, "connect": connect}


def test_jobs_of_both_kinds_of_session_are_stopped(spark: dict[str, Any]) -> None:
    stop_jobs()
    assert spark["called"] == ["local", "connect"]


def test_an_error_of_one_does_not_spare_the_other(spark: dict[str, Any]) -> None:
    del spark["context"].cancelAllJobs
    stop_jobs()
    assert spark["called"] == ["connect"]


def test_without_a_session_nothing_is_done(spark: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    spark["classic"]._active_spark_context = spark["connect"]._default_session = None
    stop_jobs()
    monkeypatch.delitem(sys.modules, "pyspark.sql.connect.session")
    monkeypatch.delitem(sys.modules, "pyspark")
    stop_jobs()
    assert spark["called"] == []


def killed_task() -> Any:
    task = SimpleNamespace(on_kill=lambda: None)
    end_when_killed({"task": task})
    return task


def test_a_task_that_airflow_ends_stops_jobs_and_leaves(spark: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SystemExit) as left:
        killed_task().on_kill()
    assert left.value.code == 143
    assert spark["called"] == ["local", "connect"]
    assert [record.getMessage() for record in caplog.records] == [
        "Airflow ended this task; what was committed before is whole; the next run goes on"
    ]


def test_a_time_limit_raises_its_own_error(spark: dict[str, Any]) -> None:
    """As Airflow calls `on_kill` where a task took too long."""

    def limited() -> None:
        try:
            next(iter(()))
        except StopIteration:
            killed_task().on_kill()
            raise TimeoutError from None

    with pytest.raises(TimeoutError):
        limited()
    assert spark["called"] == ["local", "connect"]
