"""Servers in Java that tests start on this machine: a metastore of Hive by thrift, and Iceberg's own REST catalog."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import free_port, wait_for

HERE = Path(__file__).parents[1]
REST_JARS = HERE / "build/iceberg"
OF_METASTORE = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "datanucleus.schema.autoCreateAll": "true",
    "datanucleus.connectionPoolingType": "NONE",  # pyspark has no jar of the pool that the metastore prefers
    "hive.metastore.schema.verification": "false",
    "hive.async.log.enabled": "false",
    "derby.stream.error.file": "/dev/null",
}


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty metastore of Hive, of pyspark's jars, on Derby in memory."""
    folder, port = tmp_path_factory.mktemp("metastore"), free_port()
    own = {"hive.metastore.warehouse.dir": str(folder), "java.io.tmpdir": str(folder)}
    settings = [f"-D{name}={value}" for name, value in (OF_METASTORE | own).items()]
    with _started(folder, port, [*settings, "-cp", _jars(), str(HERE / "tests/jvm/Metastore.java"), "-p", str(port)]):
        yield f"thrift://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def rest_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty REST catalog, whose tables are in SQLite."""
    if not (REST_JARS / ".whole").exists():
        pytest.skip("no REST catalog of Iceberg: bash setup/jars.sh fetches it where Maven is")
    folder, port = tmp_path_factory.mktemp("rest"), free_port()
    source = str(HERE / "tests/jvm/RestCatalog.java")
    with _started(folder, port, ["-cp", f"{REST_JARS}/*:{_jars()}", source, str(port), str(folder)]):
        yield f"http://127.0.0.1:{port}"


def _jars() -> str:
    import pyspark

    return f"{Path(pyspark.__file__).parent}/jars/*"


@contextmanager
def _started(folder: Path, port: int, arguments: Sequence[str]) -> Iterator[None]:
    """A program of one Java file, compiled as it starts, until the end."""
    home = os.environ.get("JAVA_HOME")
    java, compiler = (shutil.which(name, path=f"{home}/bin" if home else None) for name in ("java", "javac"))
    if not java or not compiler:
        pytest.skip("no compiler of Java: a JDK has one")
    command = [java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *arguments]
    with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as running:
        try:
            wait_for(port, seconds=120)
            yield
        finally:
            running.terminate()
