"""The Spark session of a run, and the check that the Spark packages fit together.

The Java that a local Spark starts with, and what is wrong with it:

Spark's own scripts would only say that it exited.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from muntin.definition.extras import need
from muntin.errors import DefinitionError, MissingPackageError, StateError
from muntin.registry import NoExtensionError, extension

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession
LEAST = 17
MEND = "install Java 17 or newer and set JAVA_HOME to its folder"
_VERSION = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)


def java_fault(environment: Mapping[str, str]) -> str:
    """Why Spark cannot start with the Java of an environment; "" where nothing is known to be wrong."""
    home = environment.get("JAVA_HOME")
    if not home:
        return (
            ""
            if shutil.which("java", path=environment.get("PATH"))
            else "JAVA_HOME is not set, and there is no java on the PATH"
        )
    if not os.access(Path(home, "bin", "java"), os.X_OK):
        return f"JAVA_HOME is {home}, where there is no bin/java"
    release = Path(home, "release")
    match = (
        _VERSION.search(release.read_text(encoding="utf-8", errors="replace")) if release.is_file() else None
    )
    return f"JAVA_HOME is {home}, which is Java {match[1]}" if match and int(match[1]) < LEAST else ""


def check_java() -> None:
    """Refuse a machine without a Java that Spark can start with; the error names the package that was
    searched.
    """
    if fault := java_fault(os.environ):
        raise MissingPackageError(f"a local Spark needs Java {LEAST} or newer: {fault}; {MEND}")


_NAME = "muntin"
_PORT = 15002
_PATIENCE_S = 10
EVERYWHERE = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}


# A local driver listens on ports of the machine: on loopback, and for who has the secret, which Java makes
# and keeps to itself.
CLOSED = {
    "spark.authenticate": "true",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
LOCAL = {
    **EVERYWHERE,
    **CLOSED,
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.memory": "1g",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
}


# Java that only hands out tasks gains nothing from a second compiler and a collector with threads of its own.
# The first flag leaves out both, and gives way to a collector that the user names; with it Java would begin
# with 8 MB.
HANDS_OUT = {
    "spark.driver.defaultJavaOptions": "-XX:+NeverActAsServerClassMachine -Xms192m -XX:MetaspaceSize=160m"
}


def is_local(address: str) -> bool:
    """Whether Spark at an address is a single Java process on this machine.

    >>> [is_local(address) for address in ("local[*]", "local-cluster[2,1,1024]", "spark://host:7077")]
    [True, False, False]
    """
    return address == "local" or address.startswith("local[")


def spoken(address: str) -> str:
    """An address as people may read it: without its parameters, of which one may be a token.

    >>> spoken("sc://host:15002/;token=secret")
    'sc://host:15002'
    """
    return address.partition("/;")[0]


def check_packages() -> None:
    """Refuse pyspark and pyspark-client of two versions: they overwrite each other's files."""
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
    """Prepare the process for a session: check the packages, let workers run this interpreter, name the Java
    that set-up found.
    """
    need("pyspark")
    check_packages()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    java_home_file = Path(sys.prefix, "java-home")
    if java_home_file.is_file():
        os.environ.setdefault("JAVA_HOME", java_home_file.read_text(encoding="utf-8").strip())


@contextmanager
def opened(address: str, *, computes: bool = True) -> Iterator[SparkSession]:
    """A session at an address: `local[*]`, `spark://`, `yarn`, `k8s://`, `sc://`.

    A session over Spark Connect is released behind the block. Any other stays until the process ends: runs in
    threads share it, and the next run need not start one.

    `computes`: whether Spark itself reads, judges or writes rows; else it only hands out tasks, with a Java
    that starts sooner.
    """
    prepare()
    if not address.startswith("sc://"):
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        running = SparkContext._active_spark_context  # noqa: SLF001 - how PySpark itself sees it
        if running is None and "PYSPARK_GATEWAY_PORT" not in os.environ:  # then Java runs already
            check_java()
        if running is not None and running.master != address:
            raise StateError(
                f"this process has a Spark at {running.master}; stop it before you ask for {address}, or"
                " give its session: spark=..."
            )
        settings = EVERYWHERE if not is_local(address) else LOCAL if computes else {**LOCAL, **HANDS_OUT}
        with suppress(NoExtensionError):
            settings = {"spark.python.daemon.module": extension("spark", "daemon")} | settings
        builder = SparkSession.builder.appName(_NAME).master(address)
        for key, value in settings.items():
            builder = builder.config(key, value)
        try:
            started = builder.getOrCreate()
        except Exception as wrong:
            raise StateError(
                f"Spark did not start at {address}: {str(wrong).strip().splitlines()[0]}"
            ) from wrong
        started.sparkContext.setLogLevel("ERROR")
        yield started
        return
    _reach(address)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(address).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _reach(address: str) -> None:
    """See that somebody answers: Spark Connect itself would try for ten minutes."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, _PORT
    if not host:
        raise DefinitionError(f"spark: {spoken(address)!r} names no host; write sc://localhost:{_PORT}")
    try:
        socket.create_connection((host, port), timeout=_PATIENCE_S).close()
    except OSError as wrong:
        raise StateError(
            f"{spoken(address)}: nobody answers at {host}:{port} ({wrong}); is the Spark Connect server up?"
        ) from wrong
