"""PySpark and py4j: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import os
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.cli.failure import _JAVA, explained
from muntin.extensions.zygote.quick_answers import without_archives
from muntin.jobs.inputs.materialised.materialise import _reported
from muntin.quality.gx import _brief
from muntin.quality.spark_frame import NO_GLOB
from muntin.spark.workers_python import about_python
from muntin.tasks.runner import lack_of_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOADED = "muntin.engine.reduce.fold"
"""A module that Muntin's daemon has imported, and Spark's own has not."""


def in_a_worker(spark: "SparkSession", look: Callable[[], Any]) -> Any:
    """What a function of this file gives in a worker, which does not import this file."""
    from pyspark import cloudpickle

    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    try:
        return spark.sparkContext.parallelize([0], 1).map(lambda _: look()).collect()[0]
    finally:
        cloudpickle.unregister_pickle_by_value(here)


def test_the_active_context_is_known(spark: "SparkSession") -> None:
    from pyspark import SparkContext

    assert SparkContext._active_spark_context is spark.sparkContext


def test_connect_keeps_its_default_session(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.connect.session import SparkSession

    monkeypatch.setattr(SparkSession, "_default_session", session := SimpleNamespace(is_stopped=False))
    assert SparkSession._get_default_session() is session
    assert callable(SparkSession.interruptAll)


def test_a_channel_is_told_by_an_address() -> None:
    """`tests/airflow/inside/test_waiting.py` sends the messages to a server."""
    from pyspark.sql.connect import proto
    from pyspark.sql.connect.client import DefaultChannelBuilder

    at = DefaultChannelBuilder("sc://host:1/;token=t;user_id=me;x-team=a")
    assert (at.endpoint, at.host, at.secure, at.use_ssl, at.token, at.userId) == ("host:1", "host", True, False, "t", "me")
    assert [*at.metadata()] == [("x-team", "a")]
    assert {"ExecutePlan", "ReleaseSession"} <= {*dir(proto.SparkConnectServiceServicer)}


def test_the_daemon_calls_its_worker_by_name() -> None:
    import pyspark.daemon

    assert "worker" in pyspark.daemon.manager.__code__.co_names
    assert not signature(pyspark.daemon.manager).parameters
    assert [*signature(pyspark.daemon.worker).parameters] == ["sock", "authenticated"]


def test_the_setting_names_the_daemon(spark: "SparkSession") -> None:
    assert in_a_worker(spark, lambda: LOADED in sys.modules)


def test_the_environment_tells_a_worker_of_its_session(spark: "SparkSession") -> None:
    told = in_a_worker(spark, lambda: dict(os.environ))
    assert told["SPARK_JOB_ARTIFACT_UUID"] == "default", "another text where each session has a daemon of its own"


def test_a_gateway_that_runs_is_named_by_the_environment() -> None:
    from pyspark.java_gateway import launch_gateway

    assert "PYSPARK_GATEWAY_PORT" in launch_gateway.__code__.co_consts


def test_functions_travel_by_value(spark: "SparkSession") -> None:
    assert in_a_worker(spark, lambda: not any("test_pyspark" in name for name in sys.modules))
    from pyspark import cloudpickle

    assert cloudpickle.loads(cloudpickle.dumps(lambda: 7))() == 7


def test_a_schema_of_arrow_becomes_one_of_spark() -> None:
    from pyspark.sql.pandas.types import from_arrow_schema

    given = pa.schema([("utc", pa.timestamp("us", tz="UTC")), ("local", pa.timestamp("us")), ("n", pa.int64())])
    found = from_arrow_schema(given, prefer_timestamp_ntz=True)
    assert [field.dataType.simpleString() for field in found] == ["timestamp", "timestamp_ntz", "bigint"]


def test_a_path_is_read_as_it_is_written(spark: "SparkSession", tmp_path: Path) -> None:
    file = tmp_path / "a[b]{c}*.parquet"
    pq.write_table(pa.table({"n": [1]}), file)
    assert [row.n for row in spark.read.options(**NO_GLOB).parquet(str(file)).collect()] == [1]


def test_workers_get_archives_that_folders_can_stand_for(spark: "SparkSession") -> None:
    path = in_a_worker(spark, lambda: os.environ["PYTHONPATH"]).split(os.pathsep)
    assert len(without_archives(path)) < len([name for name in path if name]), "nothing is left to drop: spark.unpacked is not needed"
    found = in_a_worker(spark, lambda: (sys.modules["pyspark"].__file__, list(sys.path)))
    assert Path(found[0]).is_file()
    assert without_archives(found[1]) == found[1]


def test_javas_error_holds_that_of_the_worker(spark: "SparkSession") -> None:
    def fail(_: int) -> None:
        raise ValueError("of a row")

    with pytest.raises(Exception, match="of a row") as caught:
        spark.sparkContext.parallelize([0], 1).map(fail).collect()
    cause = caught.value.java_exception.getCause()
    assert cause.getClass().getSimpleName() == "PythonException"
    assert "ValueError: of a row" in cause.getMessage()


def test_the_context_names_the_python_of_workers(spark: "SparkSession") -> None:
    assert spark.sparkContext.pythonExec == os.environ["PYSPARK_PYTHON"]


def test_another_python_of_workers_is_named(spark: "SparkSession") -> None:
    from pyspark.errors import PySparkRuntimeError

    words = {"worker_version": "3.9", "driver_version": "3.11"}
    wrong = PySparkRuntimeError(errorClass="PYTHON_VERSION_MISMATCH", messageParameters=words)
    assert str(about_python(spark, wrong)).startswith("Spark's workers run Python 3.9 at ")


def test_a_java_that_does_not_start_is_told() -> None:
    from pyspark.errors import PySparkRuntimeError

    assert explained(PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})) == _JAVA


def test_java_without_memory_is_told(spark: "SparkSession") -> None:
    with pytest.raises(Exception, match=r"java\.lang\.OutOfMemoryError") as caught:
        spark.sparkContext._jvm.java.util.Collections.nCopies(2**31 - 1, "x").toArray()  # type: ignore[union-attr]
    assert lack_of_memory(caught.value) == "Spark's Java had no memory left"


def test_a_worker_that_cannot_start_is_named(spark: "SparkSession") -> None:
    session, program = spark.newSession(), "/nowhere/bin/python"
    context = session.sparkContext
    own, context.pythonExec = context.pythonExec, program
    try:
        with pytest.raises(Exception, match="Cannot run program") as caught:
            context.parallelize([0], 1).map(str).collect()
    finally:
        context.pythonExec = own
    assert f"cannot start {program}" in str(about_python(spark, caught.value))


def test_an_error_of_a_job_tells_its_cause_before_javas_stack(spark: "SparkSession") -> None:
    frame = spark.range(1).selectExpr("raise_error('too bad') as n")
    with pytest.raises(Exception, match="too bad") as caught:
        frame.collect()
    assert "too bad" in _reported(caught.value)
    assert "\tat " not in _reported(caught.value)
    assert "at org.apache" not in _brief(str(caught.value))
