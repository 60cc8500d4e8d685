"""Topics are read by tasks of Spark, each in a process of its own."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.jobs.inspect.late import quarantined
from muntin.jobs.run import run
from tests.kafka_broker import PASSWORD, USER, Broker
from tests.topics.orders import hour, ms, order, pipeline, topic_of, totals

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession


def test_tasks_read_a_topic_with_credentials(
    kafka: Broker, spark: "SparkSession", tmp_path: Path, monkeypatch: "pytest.MonkeyPatch"
) -> None:
    monkeypatch.setattr("muntin.extensions.kafka.checks.PIECE", 300)
    monkeypatch.setattr("muntin.sources.listing.SPLIT_BYTES", 300 * 256)
    extra = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(kafka.certificate)}
    text = json.dumps({"conn_type": "kafka", "login": USER, "password": PASSWORD, "extra": extra})
    monkeypatch.setenv("AIRFLOW_CONN_TASKS", text)
    spark.sparkContext.environment["AIRFLOW_CONN_TASKS"] = text  # as workers of a local Spark inherit it
    topic = kafka.topic(3)
    messages = {at: [order(number, number / 1000) for number in range(at, 2000, 3)] for at in range(3)}
    kafka.produce(topic, {**messages, 0: [*messages[0], ("odd", b"{", ms(1.999))]})
    of = pipeline(topic_of(kafka.secure, topic, connection="tasks"))
    report = run(of, root=str(tmp_path), start=hour(0), end=hour(2), spark=spark)
    assert [(one.rows_read, one.rows_quarantined) for one in report.batches] == [(1000, 0), (1001, 1)]
    assert totals(of, str(tmp_path)) == {0: sum(range(1000)), 1: sum(range(1000, 2000))}
    assert quarantined(of, root=str(tmp_path))["row"].to_pylist() == ["{"]
