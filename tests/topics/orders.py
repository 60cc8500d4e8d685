"""A pipeline over a topic of orders, and its messages."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from muntin import Limits, Pipeline, aggregates, sources, windows
from muntin.extensions.kafka.source import KafkaSource
from muntin.jobs.inspect.read import read
from muntin.jobs.records.reports import RunReport
from muntin.jobs.run import run
from muntin.tasks import Local
from tests.kafka_broker import Broker, Row
from tests.source_options import grouped

DAY = datetime(2024, 1, 1, tzinfo=UTC)
FIELDS = {"amount": "DOUBLE", "shop": "VARCHAR", "at": "TIMESTAMPTZ"}


def hour(number: float) -> datetime:
    """So many hours after the beginning."""
    return DAY + timedelta(hours=number)


def ms(number: float) -> int:
    """The same, as the broker has it."""
    return int(hour(number).timestamp() * 1000)


def order(amount: float, happened: float, stamped: float | None = None, *, shop: str = "a") -> Row:
    """A message of an order that happened at an hour, and has the broker's time of another."""
    value = {"amount": amount, "shop": shop, "at": hour(happened).isoformat()}
    return shop, json.dumps(value).encode(), ms(happened if stamped is None else stamped)


def topic_of(broker: Broker | str, topic: str, **settings: Any) -> KafkaSource:
    """The source."""
    address = broker if isinstance(broker, str) else broker.address
    return sources.kafka(address, topic, **grouped(**{"value": "json", "columns": FIELDS, "event_time": "at", **settings}))


def pipeline(source: Any, **settings: Any) -> Pipeline:
    """Orders by the hour."""
    how = {
        "name": "orders",
        "keys": [],
        "schedule": "1h",
        "start": DAY,
        "windows": {"hour": windows.tumbling("1h", grace="100h")},
        "aggregates": {"n": aggregates.count(), "total": aggregates.sum("amount")},
        "limits": Limits(max_quarantined=None),  # of so few messages most may be bad
    }
    return Pipeline(source=source, **{**how, **settings})


def ran(of: Pipeline, root: str, start: float, end: float, **settings: Any) -> RunReport:
    """A run over some hours, without Spark."""
    return run(of, root=root, start=hour(start), end=hour(end), spark=Local(1), **settings)


def totals(of: Pipeline, root: str) -> Mapping[float, float]:
    """Hour -> the sum of the orders that happened in it, as far as they are read."""
    rows = read(of, "hour", root=root, provisional=True).to_pylist()
    return {(row["window_start"] - DAY) / timedelta(hours=1): row["total"] for row in rows}


def rows_read(report: RunReport) -> list[int]:
    """The messages of each batch of a run."""
    return [batch.rows_read for batch in report.batches]
