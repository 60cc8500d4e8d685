"""The Spark session of a run, and the check that the Spark packages fit together."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.extras import need
from pipelines.errors import StateError
from pipelines.spark.quiet_start import quiet_start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# Workers are forks of this daemon, which has done the heavy imports: a session's first task does not wait for them.
DAEMON = "pipelines.jobs.python_daemon"

LOCAL = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": DAEMON,
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
}


def check_packages() -> None:
    """Check that pyspark and pyspark-client are one version: they overwrite each other's files.

    Raises:
        StateError: two versions are installed.
    """
    try:
        classic, client = version("pyspark"), version("pyspark-client")
    except PackageNotFoundError:
        return
    if classic != client:
        raise StateError(
            f"pyspark is {classic} and pyspark-client is {client}: they share a folder and break each other; "
            f"install one version of both: pip install pyspark=={classic} pyspark-client=={classic}"
        )


def prepare() -> None:
    """Prepare the process for a session: check the packages, let workers run this interpreter, name the Java that set-up found.

    Raises:
        StateError: see `check_packages`.
        MissingPackageError: there is no pyspark.
    """
    need("pyspark")
    check_packages()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    java = Path(sys.prefix, "java-home")
    if java.is_file():
        os.environ.setdefault("JAVA_HOME", java.read_text(encoding="utf-8").strip())


@contextmanager
def session_or_local(given: SparkSession | None) -> Iterator[SparkSession]:
    """The given session, else the active session of the process, else a local one.

    A local session stays until the process ends: the next run need not start one, and runs in threads share it.
    """
    if given is not None:
        yield given
        return
    prepare()
    from pyspark.sql import SparkSession

    yield SparkSession.getActiveSession() or _local()


def _local() -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("muntin").master("local[*]")
    for key, value in LOCAL.items():
        builder = builder.config(key, value)
    with quiet_start():
        started = builder.getOrCreate()
        started.sparkContext.setLogLevel("ERROR")
    return started
