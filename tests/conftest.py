"""One Spark session for all tests; markers by what a test uses."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.kafka_broker import kafka
from tests.markers import (
    _only_what_is_marked,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_ignore_collect,
    pytest_terminal_summary,
)
from tests.object_store import azure, bucket, object_store, roots, s3_bucket

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
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_ignore_collect",
    "pytest_terminal_summary",
    "roots",
    "s3_bucket",
]


JARS = sorted((Path(__file__).parents[1] / "build/jars").glob("*.jar"))
"""PostgreSQL by JDBC and Delta for Spark: setup/jars.sh fetches them."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """Two local threads, a zone that nothing may depend on."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from muntin.spark.session import DAEMON

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
