"""The Spark session of tasks: where the connection says, or local if there is no such connection."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.tasks.runner import ship_by_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from muntin.extensions.airflow.place import Context
    from muntin.tasks import Runner

CONNECTION = "spark_default"
RESUMED = "after_waiting"
"""Name of the method of a task that Airflow calls when the task has waited for Spark
(`muntin.extensions.airflow.waiting`).
"""


class LateRunner:
    """Runs tasks in a session that begins with the first of them: a task of Airflow that has nothing to
    compute begins none.
    """

    def __init__(self, begin: Callable[[], Runner]) -> None:
        self._begin = begin

    @cached_property
    def _runner(self) -> Runner:
        return self._begin()

    @property
    def parallelism(self) -> int:
        return self._runner.parallelism

    @property
    def spark(self) -> SparkSession | None:
        return self._runner.spark

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return self._runner.run(work, items) if items else []

    def __str__(self) -> str:
        return str(self._runner)


@contextmanager
def runner_of(conn_id: str | None, context: Context, *, deferrable: bool = False) -> Iterator[Runner]:
    """The runner of tasks inside a task of Airflow: Spark where the connection says, local without one, or
    this process for None.

    The connection is read when there is something to run, and never when a DAG file is parsed. If
    `deferrable`, `TaskDeferred` while tasks are run: a remote Spark has nothing free, and the task of Airflow
    waits without a worker.
    """
    from muntin.tasks import Local

    def begin() -> Runner:
        if deferrable:
            from muntin.extensions.airflow.waiting import until_free

            until_free(str(conn_id), context)
        return stack.enter_context(_on_spark(str(conn_id), context))

    with ExitStack() as stack:
        yield LateRunner(begin) if conn_id else Local()


def connection(conn_id: str) -> Any | None:  # noqa: ANN401 - Airflow's connection
    """The connection; None if it does not exist."""
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        return BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        return None


def local_settings() -> dict[str, str]:
    """The settings of a local session. Spark's warnings are silenced: a task's log would be full of them."""
    from muntin.spark.session import LOCAL

    return {**LOCAL, "spark.log.level": "ERROR"}


def use_python(settings: Mapping[str, Any]) -> None:
    """Say which Python Spark's workers run, and check that Spark's packages fit together.

    That which the settings of a session name, as `spark-submit` would have it: PySpark itself reads
    `PYSPARK_PYTHON` alone. Without either it is this interpreter, not the first `python3` of the path. Tasks
    of one process may have different settings.
    """
    from muntin.spark.session import check_packages

    check_packages()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    usual = _of_the_environment()
    os.environ["PYSPARK_PYTHON"] = str(settings.get("spark.pyspark.python") or usual)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


@cache
def _of_the_environment() -> str:
    """The Python of workers before the first task of this process."""
    return os.environ.get("PYSPARK_PYTHON") or sys.executable


@contextmanager
def _on_spark(conn_id: str, context: Context) -> Iterator[Runner]:
    """Spark with a session as `@task.pyspark` gives it, stopped at the end."""
    from pyspark.sql import SparkSession

    from muntin.tasks.spark import OnSpark

    settings = _whole(connection(conn_id))
    use_python(settings)
    ship_by_value(Path(context["dag"].fileloc).absolute().parent)
    builder = SparkSession.builder.appName(f"{context['dag'].dag_id}-{context['task'].task_id}")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield OnSpark(session)
    finally:
        session.stop()


def settings_of(at: Any | None) -> dict[str, str]:  # noqa: ANN401 - Airflow's connection
    """The settings of a session beside the settings of its connection: a local Spark is closed to other
    users, unless the connection opens it.
    """
    from muntin.spark.session import CLOSED, is_local

    if at is None:
        return local_settings()
    return (
        {key: value for key, value in CLOSED.items() if key not in at.extra_dejson}
        if is_local(_master(at))
        else {}
    )


def _whole(at: Any | None) -> dict[str, str]:  # noqa: ANN401 - Airflow's connection
    """All settings of a session, read from a connection as the provider does:

    Spark Connect by type, else host and port are the master.
    """
    if at is None:
        return {"spark.master": "local[*]", **local_settings()}
    if remote := remote_of(at):
        return {"spark.remote": remote, **at.extra_dejson}
    return {"spark.master": _master(at), **at.extra_dejson, **settings_of(at)}


def remote_of(at: Any | None) -> str | None:  # noqa: ANN401 - Airflow's connection
    """The address of a Spark Connect server, with its token; None of any other connection."""
    if at is None or at.conn_type != "spark_connect":
        return None
    from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

    return str(SparkConnectHook(at.conn_id).get_connection_url())


def _master(at: Any) -> str:  # noqa: ANN401 - Airflow's connection
    if at.conn_type == "spark_connect":
        return ""
    return str(
        at.extra_dejson.get("spark.master") or (f"{at.host}:{at.port}" if at.port else at.host or "local[*]")
    )
