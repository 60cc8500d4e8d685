"""The metrics of runs without Airflow: to a receiver of OTLP/HTTP, or to the meter of a program's own."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin.jobs.records.metrics import KINDS
from tests.cli.conftest import RANGE, Muntin, Project
from tests.metric_receivers import Otlp, otlp
from tests.servers import free_port

pytestmark = pytest.mark.usefixtures("here")
PIPELINE = ("pipeline", "sensors")
UNSENT = {"muntin.fresh", "muntin.rows_correcting"}
"""Of definitions with `fresh_within` and `allowed_lateness` alone."""


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Otlp]:
    with otlp() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{found.port}")
        yield found


def states(receiver: Otlp) -> dict[str, float]:
    """The batches by state, where there are any; taken from what was received."""
    found = {labels: receiver.values.pop((name, labels)) for name, labels in [*receiver.values] if name == "muntin.batches"}
    return {dict(labels)["state"]: count for labels, count in found.items() if count}


# day 1    ä 01:00    ö 07:00
# day 2    ä 03:00    ä 02:00 of day 1: late    a row without a time: quarantined
def test_a_run_tells_what_it_read_and_published(muntin: Muntin, project: Project, receiver: Otlp):
    told = muntin(*project.arguments("run", *RANGE))
    assert told.status == 0, told.err
    assert states(receiver) == {"published": 2}
    lags = {labels: receiver.values.pop(("muntin.lag", labels)) for name, labels in [*receiver.values] if name == "muntin.lag"}
    assert receiver.values == {
        ("muntin.rows_read", (PIPELINE,)): 5,
        ("muntin.rows_quarantined", (PIPELINE,)): 1,
        ("muntin.rows_late", (PIPELINE,)): 1,
        ("muntin.windows_published", (PIPELINE, ("window", "quarter"))): 3,
        ("muntin.windows_published", (PIPELINE, ("window", "visit"))): 3,
    }
    assert receiver.units == {name: kind.unit for name, kind in KINDS.items() if name not in UNSENT}
    since = time.time() - 1577923200 - 86400  # the watermark is the end of day 2
    assert [labels[1][1] for labels in lags] == ["quarter", "visit"]
    assert all(since - 60 < lag < since + 60 for lag in lags.values())


def test_what_was_read_counts_where_the_run_fails(muntin: Muntin, project: Project, receiver: Otlp, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("muntin.jobs.publish.finish.publish", broken)
    assert muntin(*project.arguments("run", *RANGE)).status == 3
    assert states(receiver) == {"failed": 2}
    assert receiver.values == {("muntin.rows_read", (PIPELINE,)): 5, ("muntin.rows_quarantined", (PIPELINE,)): 1}


def test_a_batch_that_waited_counts_when_it_is_published(muntin: Muntin, project: Project, receiver: Otlp):
    muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03"))
    muntin(*project.arguments("run", "--start", "2020-01-01", "--end", "2020-01-02"))
    assert receiver.values["muntin.windows_published", (PIPELINE, ("window", "quarter"))] == 3


@pytest.mark.parametrize("variable", ["OTEL_SDK_DISABLED=true", "OTEL_METRICS_EXPORTER=none"])
def test_the_environment_can_say_no(muntin: Muntin, project: Project, receiver: Otlp, monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.setenv(*variable.split("="))
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    assert receiver.values == {}


def test_a_receiver_that_is_down_fails_no_run(muntin: Muntin, project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    assert muntin(*project.arguments("run", *RANGE)).status == 0


def test_a_meter_that_breaks_fails_no_run(project: Project, muntin: Muntin, caplog: pytest.LogCaptureFixture):
    from muntin.jobs.records.metrics import to_meter

    with to_meter("no meter"):
        assert muntin(*project.arguments("run", *RANGE)).status == 0
    assert "metrics: not recorded: AttributeError" in caplog.text


def test_a_program_with_opentelemetry_of_its_own(project: Project, muntin: Muntin, monkeypatch: pytest.MonkeyPatch):
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)  # a process can set its provider once only
    muntin(*project.arguments("run", *RANGE))
    found = reader.get_metrics_data().resource_metrics[0].scope_metrics[0]
    assert {metric.name for metric in found.metrics} == KINDS.keys() - UNSENT
    provider.shutdown()


def test_the_gauges_of_now_as_prometheus_reads_them(muntin: Muntin, project: Project, receiver: Otlp):
    project.define(**{"keys=[": 'limits=Limits(fresh_within="2d"), keys=['})
    assert muntin(*project.arguments("status", "--metrics")).status == 3  # nothing was run yet
    muntin(*project.arguments("run", *RANGE))
    receiver.values.clear()
    told = muntin(*project.arguments("status", "--metrics"))
    assert told.status == 0, told.err
    lines = told.out.splitlines()
    assert "# TYPE muntin_batches gauge" in lines
    assert 'muntin_batches{pipeline="sensors",state="published"} 2' in lines
    assert 'muntin_fresh{pipeline="sensors"} 0' in lines
    assert any(line.startswith('muntin_lag_seconds{pipeline="sensors",window="quarter"} ') for line in lines)
    assert receiver.values["muntin.fresh", (PIPELINE,)] == 0
    assert json.loads(muntin(*project.arguments("status", "--metrics", "--json")).out)[-1] == {
        "name": "muntin.fresh",
        "labels": dict([PIPELINE]),
        "value": 0,
    }


def test_the_page_names_every_metric():
    page = (Path(__file__).parents[2] / "docs/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(muntin\.\w+)` \| (\w+) \| ([\w/]+) \| (.*?) \|", page, re.MULTILINE)
    units = {"{row}": "rows", "{window}": "windows", "{batch}": "batches", "s": "seconds", "1": "yes/no"}
    assert [(name, type_, unit, about) for name, type_, unit, about in rows] == [
        (name, kind.type, units[kind.unit], kind.about) for name, kind in KINDS.items()
    ]
