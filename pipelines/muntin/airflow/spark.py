"""The Spark session of tasks: where the connection says, or local if there is no such connection."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.tasks.by_value import ship_by_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from muntin.tasks import Runner

CONNECTION = "spark_default"


def locate_spark(conn_id: str) -> Callable[[Mapping[str, Any]], None]:
    """A `pre_execute` for tasks of `@task.pyspark(conn_id=...)`, which fail if the connection does not exist.

    With this, such a task gets a local session, as `muntin.run` starts. The connection is read when the task runs,
    so that parsing a DAG file needs no database.
    """

    def locate(context: Mapping[str, Any]) -> None:
        found = connection(conn_id)
        use_python(found.extra_dejson if found else {})
        ship_by_value(Path(context["dag"].fileloc).absolute().parent)
        operator = context["task"]
        operator.conn_id = conn_id if found else None
        operator.config_kwargs = settings_of(found)

    return locate


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

    That which the settings of a session name, as `spark-submit` would have it: PySpark itself reads `PYSPARK_PYTHON` alone. Without
    either it is this interpreter, not the first `python3` of the path. Tasks of one process may have different settings.
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


def runner_of(session: SparkSession | None) -> Runner:
    """The runner of tasks inside a task of Airflow: Spark, or the task's own process."""
    from muntin.tasks import Local
    from muntin.tasks.spark import OnSpark

    return OnSpark(session) if session else Local()


@contextmanager
def runner_again(conn_id: str | None, dag_file: str) -> Iterator[Runner]:
    """The runner of `runner_of`, with a session as `@task.pyspark` gives it, stopped at the end; for a task that seldom needs a session."""
    if conn_id is None:
        yield runner_of(None)
        return
    from pyspark.sql import SparkSession

    settings = _whole(connection(conn_id))
    use_python(settings)
    ship_by_value(Path(dag_file).absolute().parent)
    builder = SparkSession.builder.appName("muntin")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield runner_of(session)
    finally:
        session.stop()


def settings_of(at: Any | None) -> dict[str, str]:  # noqa: ANN401 - Airflow's connection
    """The settings of a session beside those of its connection: a local Spark is closed to other users, unless the connection opens it."""
    from muntin.spark.session import CLOSED, is_local

    if at is None:
        return local_settings()
    return {key: value for key, value in CLOSED.items() if key not in at.extra_dejson} if is_local(_master(at)) else {}


def _whole(at: Any | None) -> dict[str, str]:  # noqa: ANN401 - Airflow's connection
    """All settings of a session, read from a connection as the provider does: Spark Connect by type, else host and port are the master."""
    if at is None:
        return {"spark.master": "local[*]", **local_settings()}
    if at.conn_type == "spark_connect":
        from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

        return {"spark.remote": SparkConnectHook(at.conn_id).get_connection_url(), **at.extra_dejson}
    return {"spark.master": _master(at), **at.extra_dejson, **settings_of(at)}


def _master(at: Any) -> str:  # noqa: ANN401 - Airflow's connection
    if at.conn_type == "spark_connect":
        return ""
    return str(at.extra_dejson.get("spark.master") or (f"{at.host}:{at.port}" if at.port else at.host or "local[*]"))
