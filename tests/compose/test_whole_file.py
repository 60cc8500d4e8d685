"""Every service of docker-compose.yml as a process, both profiles included: checks pass, and Airflow runs two pipelines over Connect."""

import csv
import io
import json
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import kafka_broker, object_store
from tests.compose.compose_file import example_variables
from tests.compose.stack import Stack, stack

DAYS = [datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=ago) for ago in (2, 1)]
HOURS = 24
ROWS = [("1", str(hour)) for _ in DAYS for hour in range(HOURS)]
PATIENCE_S = 240
DAGS = """
from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

rest = {{
    "schedule": "@daily",
    "start": datetime.fromisoformat("{start}"),
    "windows": {{"hour": windows.tumbling("1h")}},
    "aggregates": {{"n": agg.count(), "total": agg.sum("x")}},
}}
files = Pipeline(name="files", source=sources.files("data/small/{{start:%Y-%m-%d}}.parquet", event_time="at"), **rest)
columns = {{"at": "TIMESTAMPTZ", "x": "BIGINT"}}
topic = Pipeline(name="topic", source=sources.kafka("{kafka}", "orders", value="json", columns=columns, event_time="at"), **rest)
on_disk = airflow_dag(files, root="/opt/muntin/state")
in_the_store = airflow_dag(topic)
"""
pytestmark = [
    pytest.mark.spark,
    pytest.mark.gx,
    pytest.mark.airflow,
    pytest.mark.timeout(900),
    pytest.mark.skipif("MUNTIN_CLUSTER" not in os.environ, reason="make cluster-test runs it: some minutes"),
    pytest.mark.skipif(not (kafka_broker.JARS / "whole").exists(), reason="no Kafka: bash setup/kafka.sh fetches it where Maven is"),
    pytest.mark.skipif(not object_store.BINARY.exists(), reason="no object store: bash setup/object_store.sh builds one where Go is"),
]


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    variables = example_variables(optional=True) | {"FERNET_KEY": "bXVudGluLXRlc3RzLW11bnRpbi10ZXN0cy1tdW50aW4="}
    # PostgreSQL, another user, can walk through it
    with (
        tempfile.TemporaryDirectory(prefix="muntin-compose-", ignore_cleanup_errors=True) as folder,
        stack(Path(folder), variables) as made,
    ):
        made.up("kafka", "s3")
        give_events(made)
        made.up(*made.places.services)
        yield made


def give_events(stack: Stack) -> None:
    """A row an hour, in files and in a topic; and the definitions of both."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    at, address = stack.places.here, stack.places.here("kafka:9092", "")
    folder = Path(at("/opt/muntin/data/small", ""))
    folder.mkdir(parents=True)
    admin = AdminClient({"bootstrap.servers": address})  # held until the answer is there
    admin.create_topics([NewTopic("orders", 2, 1, config={"retention.ms": "-1"})])["orders"].result()
    producer = Producer({"bootstrap.servers": address})
    for day in DAYS:
        times = [day + timedelta(hours=hour, minutes=5) for hour in range(HOURS)]
        rows = pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "x": range(HOURS)})
        pq.write_table(rows, folder / f"{day:%Y-%m-%d}.parquet")
        for x, each in enumerate(times):
            value = json.dumps({"at": each.isoformat(), "x": x})
            producer.produce("orders", value, None, x % 2, timestamp=int(each.timestamp() * 1000))
    assert producer.flush(30) == 0
    text = at(DAGS.format(start=DAYS[0].isoformat(), kafka="kafka:9092"), "")
    Path(at("/opt/muntin/dags/small.py", "")).write_text(text, encoding="utf-8")


class Api:
    """Airflow's, signed in as the user that airflow-init makes."""

    def __init__(self, stack: Stack) -> None:
        self.address = stack.places.here("http://localhost:8080", "api-server")
        password = stack.places.services["airflow-init"].environment["ADMIN_PASSWORD"]
        self.token = ""
        self.token = self.ask("POST", "/auth/token", {"username": "admin", "password": password})["access_token"]

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.address + path, data, headers, method=method)  # noqa: S310 - 127.0.0.1
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
            return json.load(answer)


def test_every_check_passes_and_a_strange_one_does_not(running: Stack) -> None:
    lasting = {name for name, each in running.places.services.items() if each.healthcheck}
    assert {*running.containers} - {"spark-worker-2", "airflow-init", "s3-bucket"} == lasting
    for container in [*lasting, "spark-worker-2"]:
        running.wait(container)
    beats = running.places.services["triggerer"].healthcheck
    assert running.run("triggerer", *beats[:-1], "no_such_part").returncode == 1
    assert running.run("kafka", "bash", "-c", "</dev/tcp/kafka/1").returncode == 1


# files on the disk, state on the disk       rows of two days, an hour each
# a topic of Kafka, state in the store       the same rows
@pytest.mark.parametrize(("dag", "root"), [("files", "/opt/muntin/state"), ("topic", "s3://muntin/state")])
def test_airflow_runs_a_pipeline_over_connect(running: Stack, dag: str, root: str) -> None:
    api, end = Api(running), time.monotonic() + PATIENCE_S
    states = ""
    while time.monotonic() < end and states != "success success":
        try:
            api.ask("PATCH", f"/api/v2/dags/{dag}", {"is_paused": False})
            states = " ".join(each["state"] for each in api.ask("GET", f"/api/v2/dags/{dag}/dagRuns")["dag_runs"])
        except urllib.error.HTTPError as wrong:
            states = f"{wrong}: {wrong.read()}"
        assert "failed" not in states, running.log("scheduler")
        time.sleep(2)
    assert states == "success success", running.log("scheduler")
    show = ("muntin", "show", "/opt/muntin/dags/small.py", "hour")
    shown = running.run("scheduler", *show, "--pipeline", dag, "--root", root, "--format", "csv")
    assert [(row["n"], row["total"]) for row in csv.DictReader(io.StringIO(shown.stdout))] == ROWS, shown.stderr
