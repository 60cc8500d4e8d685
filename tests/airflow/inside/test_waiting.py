"""Tasks that wait for a remote Spark without a worker: the trigger runs for real, beside a Spark Connect server whose cores are taken."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from muntin import airflow_dag
from muntin.cli.place import load_pipeline
from muntin.extensions.airflow import waiting
from muntin.extensions.airflow.spark import connection, remote_of
from muntin.jobs.records.attempts import attempts
from tests.airflow.inside.test_runs import published, states
from tests.airflow.project import half_days

pytestmark = pytest.mark.usefixtures("spark_server")
NOBODY = "spark-connect://me:geheim@127.0.0.1:9"


@contextmanager
def taken_cores() -> Iterator[Callable[[], None]]:
    """All cores of the server at work, each for a task that waits for a word of ours; a function that gives the word."""
    from pyspark.sql import SparkSession

    count, held = len(os.sched_getaffinity(0)), list[socket.socket]()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def held_up(batches: Any) -> Any:
            with socket.create_connection(("127.0.0.1", port)) as word:
                word.recv(1)
            yield from batches

        session = SparkSession.builder.remote(remote_of(connection("spark_default"))).create()
        job = Thread(target=lambda: session.range(0, count, 1, count).mapInArrow(held_up, "id long").collect())
        job.start()
        held = [listening.accept()[0] for _ in range(count)]

        def let_go() -> None:
            while held:
                held.pop().close()

        try:
            yield let_go
        finally:
            let_go()
            job.join()
            session.stop()


def steps_noted(root: Path) -> list[tuple[str, str]]:
    (notes,) = root.glob("shop/*/attempts")
    return [(each.step, each.phase) for each in attempts(notes.parent)]


def test_a_task_has_no_slot_while_spark_is_busy(
    dags: dict[str, Any], run_day: Callable[..., Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__OPERATORS__DEFAULT_DEFERRABLE", "True")
    monkeypatch.setattr(waiting, "PATIENCE_S", 1.0)
    file = dags["shop"].fileloc
    dag = airflow_dag(load_pipeline(Path(file)))
    dag.fileloc = file
    monkeypatch.setitem(dags, "shop", dag)
    run, noted = waiting.SparkFree.run, list[tuple[str, str]]()

    async def watched(trigger: waiting.SparkFree) -> AsyncIterator[Any]:
        noted.extend(steps_noted(root))
        fired = asyncio.ensure_future(anext(run(trigger)))
        let_go()
        yield await fired

    monkeypatch.setattr(waiting.SparkFree, "run", watched)
    with taken_cores() as let_go:
        done = run_day(1)

    assert set(states(done).values()) == {"success"}
    assert noted == [("accumulate", "queued")]
    assert published(dags, root) == half_days([1])


def test_nobody_who_answers_is_waited_for_and_a_token_stays_out_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", NOBODY)
    with pytest.raises(TaskDeferred) as deferred:
        waiting.until_free("spark_default", {"task": SimpleNamespace(execution_timeout=None)})

    assert "geheim" in str(remote_of(connection("spark_default")))
    assert deferred.value.trigger.serialize() == ("muntin.extensions.airflow.waiting.SparkFree", {"conn_id": "spark_default"})


def test_the_trigger_asks_again_until_somebody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    there = os.environ["AIRFLOW_CONN_SPARK_DEFAULT"]
    asked = list[str]()

    def mended(at: Any) -> str | None:
        asked.append(str(remote_of(at)))
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", there)
        return asked[-1]

    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", NOBODY)
    monkeypatch.setattr(waiting, "AGAIN_S", 0)
    monkeypatch.setattr(waiting, "remote_of", mended)
    asyncio.run(anext(waiting.SparkFree("spark_default").run()))

    assert [address.partition("/")[2].startswith("/127.0.0.1:9/") for address in asked] == [True, False]


def test_no_other_spark_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", "spark://nowhere.example:7077")
    waiting.until_free("spark_default", {})
    waiting.until_free("no_connection", {})
