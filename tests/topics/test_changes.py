"""A topic of changes, as Debezium writes them: rows that later messages change or take back."""

import json
from pathlib import Path
from typing import Any

from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import quarantined
from tests.kafka_broker import Broker, Row
from tests.topics.orders import hour, ms, pipeline, ran, topic_of, totals

FIELDS = {"id": "BIGINT", "op": "VARCHAR", "amount": "DOUBLE", "at": "TIMESTAMPTZ"}


def change(op: str, order: int, amount: float | None, happened: float | None, stamped: float) -> Row:
    value: dict[str, Any] = {"id": order, "op": op, "amount": amount, "at": None if happened is None else hour(happened).isoformat()}
    return str(order), json.dumps(value).encode(), ms(stamped)


# hour    0              1              2
# 7       c 3.0          u 8.0
# 8       c 1.0                         d
def test_orders_are_changed_and_cancelled(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(1)
    messages = [
        *(change("c", 7, 3.0, 0.1, 0.1), change("c", 8, 1.0, 0.2, 0.2)),
        *(change("u", 7, 8.0, 0.1, 1.1), change("c", 9, 2.0, 1.2, 1.2)),
        *(change("d", 8, None, None, 2.1), change("?", 9, 2.0, 1.2, 2.2)),
        change("c", 10, 5.0, 3.1, 3.1),
    ]
    kafka.produce(topic, {0: messages})
    source = topic_of(kafka, topic, columns=FIELDS, id="id", operation="op", changes_within="1d")
    of = pipeline(source)
    for at in range(3):
        ran(of, str(tmp_path), at, at + 1)
    assert totals(of, str(tmp_path)) == {0: 8.0, 1: 2.0}
    (window,) = explain(of, "hour", root=str(tmp_path), at=hour(0)).windows
    assert [(each.by, each.what, each.line) for each in window.changes] == [(hour(1), "changes a row", 2), (hour(2), "takes a row back", 4)]
    assert quarantined(of, root=str(tmp_path))["reason"].to_pylist() == ["operation is not known: ?"]


def test_a_tombstone_behind_a_delete_is_a_repeated_row(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(1)
    kafka.produce(
        topic,
        {
            0: [
                change("c", 7, 3.0, 0.1, 0.1),
                change("c", 8, 1.0, 0.2, 0.2),
                change("d", 8, None, None, 0.3),
                ("8", None, ms(0.4)),
                change("c", 9, 2.0, 1.1, 1.1),
            ]
        },
    )
    of = pipeline(topic_of(kafka, topic, columns=FIELDS, id="id", operation="op", changes_within="1d"))
    report = ran(of, str(tmp_path), 0, 1)
    assert totals(of, str(tmp_path)) == {0: 3.0}
    assert not len(quarantined(of, root=str(tmp_path)))
    assert [(each.rows_read, each.rows_duplicate) for each in report.batches] == [(4, 3)]
