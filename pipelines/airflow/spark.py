"""Where Spark is: what a connection says when the task runs; nothing configured is a local session."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

CONNECTION = "spark_default"


def locate_spark(conn_id: str) -> Callable[[Mapping[str, Any]], None]:
    """A `pre_execute` for tasks of `@task.pyspark(conn_id=...)`, which fail where the connection does not exist.

    Without it, the task gets the local session that `pipelines.run` would start. Asked when the task runs: parsing a
    DAG file asks no database.
    """

    def locate(context: Mapping[str, Any]) -> None:
        use_this_python()
        ship_by_value(Path(context["dag"].fileloc).absolute().parent)
        operator = context["task"]
        found = connection(conn_id) is not None
        operator.conn_id = conn_id if found else None
        operator.config_kwargs = {} if found else local_settings()

    return locate


def connection(conn_id: str) -> Any | None:  # noqa: ANN401 - Airflow's connection
    """The connection, or None if nobody configured it."""
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        return BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        return None


def local_settings() -> dict[str, str]:
    """Of a local session; Spark's warnings would drown a task's log."""
    from pipelines.spark.spark_session import LOCAL

    return {**LOCAL, "spark.log.level": "ERROR"}


def use_this_python() -> None:
    """Spark's workers run in this interpreter, not in whichever `python3` comes first; and see that Spark's packages fit."""
    from pipelines.spark.spark_session import check_packages

    check_packages()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, sys.executable)


def ship_by_value(folder: Path) -> None:
    """Send functions that are defined in the DAG folder to Spark's workers whole: they cannot import its modules."""
    from pyspark import cloudpickle

    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(folder):
            cloudpickle.register_pickle_by_value(module)


@contextmanager
def spark_session(conn_id: str, dag_file: str) -> Iterator[SparkSession]:
    """The session `@task.pyspark` would give, for a task that seldom needs one; stopped at the end."""
    from pyspark.sql import SparkSession

    use_this_python()
    ship_by_value(Path(dag_file).absolute().parent)
    builder = SparkSession.builder.appName("muntin")
    for key, value in _settings(connection(conn_id)).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _settings(found: Any | None) -> dict[str, str]:  # noqa: ANN401 - Airflow's connection
    """As the provider reads a connection: Spark Connect by its type, else host and port are the master."""
    if found is None:
        return {"spark.master": "local[*]", **local_settings()}
    if found.conn_type == "spark_connect":
        from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

        return {"spark.remote": SparkConnectHook(found.conn_id).get_connection_url(), **found.extra_dejson}
    master = f"{found.host}:{found.port}" if found.port else found.host or "local[*]"
    return {"spark.master": master, **found.extra_dejson}
