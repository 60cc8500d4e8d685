"""A topic as a dimension: the last message of each message key counts, compacted or not."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, plan, sources
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from tests.end_to_end.hourly import Hourly, hour, times
from tests.kafka_broker import Broker, Row
from tests.topics.orders import ms

FIELDS = {"city": "VARCHAR", "since": "TIMESTAMPTZ", "rate": "DOUBLE"}


def message(key: str, city: str, since: float, rate: float) -> Row:
    value = {"city": city, "since": hour(since).isoformat(), "rate": rate}
    return key, json.dumps(value).encode(), ms(since)


def euros(kafka: Broker, topic: str, folder: Path) -> tuple[Hourly, Pipeline]:
    """Two hours of amounts, in the rate of their city."""
    case = Hourly(folder, other={"aggregates": {"euros": agg.sum("x * rates.rate")}})
    case.write("00.parquet", {"at": times(10, 20), "city": ["Graz", "Linz"], "x": [1.0, 10.0]})
    case.write("01.parquet", {"at": times(70), "city": ["Graz"], "x": [100.0]})
    source = sources.kafka(kafka.address, topic, value="json", columns=FIELDS)
    lookups: Mapping[str, Any] = {"rates": sources.lookup(source, keys=["city"], since="since", columns=["rate"])}
    case.other["lookups"] = lookups  # type: ignore[index]
    return case, case.pipeline


# key       Graz 0        Linz 0        Graz 1        Linz 0        Linz 5      Linz 5
# rate      2             3             4             5             9           a tombstone
def test_the_last_message_of_a_key_counts(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(1)
    first = [message("Graz 0", "Graz", 0, 2.0), message("Linz 0", "Linz", 0, 3.0), message("Graz 1", "Graz", 1, 4.0)]
    kafka.produce(topic, {0: first})
    case, pipeline = euros(kafka, topic, tmp_path)
    case.run(0, 1)
    assert case.rows("euros") == [(32.0,), (400.0,)]
    kafka.produce(topic, {0: [message("Linz 0", "Linz", 0, 5.0), message("Linz 5", "Linz", 5, 9.0), ("Linz 5", None, ms(5))]})
    found = plan(pipeline, root=case.root, start=hour(1), end=hour(2)).batches
    assert [each.interval_start.hour for each in found if each.reading == "changed"] == [0]
    case.run(1, 1)
    assert case.rows("euros") == [(52.0,), (400.0,)]


def test_a_key_that_does_not_name_the_version_is_refused(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(1)
    kafka.produce(topic, {0: [message("Graz", "Graz", 0, 2.0), message("Graz", "Graz", 1, 4.0)]})
    case, _ = euros(kafka, topic, tmp_path)
    with pytest.raises(
        SourceError, match=r"lookups\['rates'\]: messages with one key .+ compaction keeps the last alone: Graz. Let the key"
    ):
        case.run(0)


@pytest.mark.parametrize(
    ("value", "why"), [(b"no JSON", r"offset 1 of .+: no JSON"), (b'{"rate": 1}', r"a key is null, and no event could meet it: null since")]
)
def test_a_message_that_cannot_be_used_is_told(kafka: Broker, tmp_path: Path, value: bytes, why: str) -> None:
    topic = kafka.topic(1)
    kafka.produce(topic, {0: [message("Graz 0", "Graz", 0, 2.0), ("Linz 0", value, ms(0))]})
    case, _ = euros(kafka, topic, tmp_path)
    with pytest.raises(SourceError, match=why):
        case.run(0)


def test_a_topic_without_messages_is_told(kafka: Broker, tmp_path: Path) -> None:
    case, _ = euros(kafka, kafka.topic(1), tmp_path)
    with pytest.raises(SourceError, match="no file or message of kafka://"):
        case.run(0)


def test_a_topic_of_events_says_their_time(kafka: Broker, tmp_path: Path) -> None:
    _, pipeline = euros(kafka, "rates", tmp_path)
    with pytest.raises(DefinitionError, match="event_time is missing"):
        replace(pipeline, source=sources.kafka(kafka.address, "orders", value="json", columns=FIELDS))
