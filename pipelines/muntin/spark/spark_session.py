"""The Spark session of a run, and the check that the Spark packages fit together."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from muntin.definition.extras import need
from muntin.errors import StateError
from muntin.spark import early_python, early_start
from muntin.spark.java import check_java, java_fault, name_java
from muntin.spark.quick_java import environment, quick
from muntin.spark.quiet_start import quiet_start, quiet_stderr
from muntin.spark.task_session import TaskSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

log = logging.getLogger("muntin")

# Workers are forks of this daemon, which has done the heavy imports: a session's first task does not wait for them.
DAEMON = "muntin.jobs.python_daemon"

_NAME, _MASTER = "muntin", "local[*]"
_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_API_MODE", "SPARK_CONNECT_MODE_ENABLED")  # Java runs already, or needs none

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
    name_java()


@contextmanager
def session_or_local(given: SparkSession | None) -> Iterator[SparkSession]:
    """The given session, else the one that was begun, else the active session of the process, else a local one.

    A local session stays until the process ends: the next run need not start one, and runs in threads share it.
    """
    if given is not None:
        yield given
        return
    prepare()
    yield _begun() or _active() or _local()


def _active() -> SparkSession | None:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _local() -> SparkSession:
    if not _elsewhere():
        check_java()
    with quiet_start():
        return _started()


def _elsewhere() -> bool:
    return any(os.environ.get(name) for name in _ELSEWHERE)


def _started() -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(_NAME).master(_MASTER)
    for key, value in LOCAL.items():
        builder = builder.config(key, value)
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started


def begin_local(*, briefly: bool, queries: bool) -> None:
    """Begin to start a local session, which `session_or_local` waits for; nothing where the process has a session or is told of one.

    If it fails, that starts another as ever, which tells what is wrong.

    Args:
        briefly: whether Spark computes little, for a command that ends soon: Java starts in less time, and would compute slower.
        queries: whether more is asked of the session than to hand out tasks.
    """
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    name_java()
    if getattr(context, "_active_spark_context", None) is None and not _elsewhere() and not java_fault(os.environ):
        early_start.begin(lambda: _begin(briefly=briefly, queries=queries))


def _begin(*, briefly: bool, queries: bool) -> SparkSession | TaskSession:
    """Start Java and, beside it, a Python that imports for the workers; then the session."""
    prepare()
    ours = os.environ["PYSPARK_PYTHON"] == sys.executable and os.environ.get("MUNTIN_READY_PYTHON") != "off"
    place = early_python.begin(DAEMON) if ours else None
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    settings = SparkConf().setMaster(_MASTER).setAppName(_NAME).setAll([*LOCAL.items()])
    variables = (quick(os.environ) if briefly else {}) | ({early_python.PLACE: place} if place else {})
    said = quiet_stderr()
    try:
        with environment(variables):
            java = launch_gateway(settings, {"stdout": said, "stderr": said})
    finally:
        os.close(said)
    context = SparkContext(conf=settings, gateway=java)
    context.setLogLevel("ERROR")
    return _started() if queries else TaskSession(context)


def _begun() -> SparkSession | None:
    """The session that was begun and still is there, active in this thread."""
    try:
        session: SparkSession | None = early_start.begun()
    except Exception as wrong:  # noqa: BLE001 - whatever it was: the second start tells what stays wrong
        return _once_more(wrong)
    if session is None or session.sparkContext._jsc is None:  # noqa: SLF001 - how PySpark itself sees that it was stopped
        return None
    if not isinstance(session, TaskSession):
        session._get_j_spark_session_class(session._jvm).setActiveSession(session._jsparkSession)  # noqa: SLF001 - as PySpark does it
    return session


def _once_more(wrong: Exception) -> SparkSession:
    """A session started as ever, after a start in the background failed."""
    session = _local()
    log.warning("Spark did not start in the background (%s: %s); started once more, it did", type(wrong).__name__, wrong)
    return session
