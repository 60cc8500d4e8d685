"""One Spark session for all tests; which tests a run takes, in which order; markers by what a test uses."""

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests import durations, markers, selection, sharing
from tests.kafka_broker import kafka
from tests.markers import _only_what_is_marked
from tests.object_store import azure, bucket, object_store, roots, s3_bucket
from tests.sharing import pytest_xdist_make_scheduler

os.environ.setdefault("MUNTIN_SYNC", "off")  # thousands of small commits would wait for the disk; tests/storage/test_durable.py does
settings.register_profile("muntin", deadline=None)  # how long an example takes is a matter of the machine; benchmarks tell speed
settings.load_profile("muntin")
for _options in ("SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(_options, "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # compiling well takes longer than most JVMs live here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [  # pytest looks for them here
    "_only_what_is_marked",
    "azure",
    "bucket",
    "kafka",
    "object_store",
    "pytest_xdist_make_scheduler",
    "roots",
    "s3_bucket",
]


JARS = sorted((Path(__file__).parents[1] / "build/jars").glob("*.jar"))
"""PostgreSQL by JDBC and Delta for Spark: setup/jars.sh fetches them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that the Makefile gives."""
    selection.options(parser)
    parser.addoption("--write-durations", action="store_true", help="write to tests/durations.json how long each file took")


def pytest_configure(config: pytest.Config) -> None:
    """Make markers known, draw the seed, and say what `make test-long` will take."""
    for name, says in markers.DESCRIPTIONS.items():
        config.addinivalue_line("markers", f"{name}: {says}")
    if not hasattr(config, "workerinput"):
        selection.begin(config)
    if config.getoption("--write-durations"):
        config.pluginmanager.register(durations.Meter())
    atexit.register(_say_nothing_more)


def _say_nothing_more() -> None:
    """Libraries in C++ count at the end of a process what they never free: 78 lines."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not read files of which a run takes no test."""
    return True if selection.is_left_out(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the markers, leave out what the run is not for, begin with what takes longest."""
    for item in items:
        for name in markers.markers_of(item):
            item.add_marker(name)
    selection.select(config, items)
    if hasattr(config, "workerinput"):
        items[:] = sharing.longest_first(items, "long" if config.getoption("--long") else "test")


def pytest_collection_finish() -> None:
    """Collections of garbage need not look again and again at thousands of tests, which stay."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say the seed; write down what has passed, and how long each file took if that is asked for."""
    reports = [each for some in terminalreporter.stats.values() for each in some if hasattr(each, "user_properties")]
    terminalreporter.write_line(selection.said_at_the_end())
    if config.getoption("--write-durations"):
        durations.write(durations.taken(reports), "long" if config.getoption("--long") else "test")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where all of `make test-long` has passed before, nothing is left to fail."""
    if session.config.getoption("--long") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that has passed, of `make test-long`."""
    selection.note(report)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """Two local threads, a zone that nothing may depend on."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from muntin.extensions.zygote import DAEMON

    settings = {
        "spark.python.daemon.module": DAEMON,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Asia/Kolkata",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        **({"spark.jars": ",".join(map(str, JARS))} if JARS else {}),
    }
    session = SparkSession.builder.master("local[2]").appName("muntin-tests").config(map=settings).getOrCreate()
    yield session
    session.stop()
