"""Which messages a batch holds: each offset is in one batch, whatever comes late, is run again or out of order, or dies in between."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, aggregates, sources
from muntin.errors import SourceError
from muntin.extensions.kafka import borders as kept_borders
from muntin.extensions.kafka import checks, first_messages
from muntin.extensions.kafka.content import messages
from muntin.jobs.accumulate import accumulate
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.inspect.read import read
from muntin.jobs.upkeep.outdated import outdated
from tests.kafka_broker import Broker, Row
from tests.topics.orders import FIELDS, hour, ms, order, pipeline, ran, rows_read, topic_of, totals


# hours        0      1      2      3
# partition 0  1 2    4
# partition 1  8             16
def test_a_batch_holds_the_messages_of_its_interval_by_the_time_of_the_broker(kafka: Broker, roots: str) -> None:
    topic = kafka.topic(2)
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.9), order(4, 1)], 1: [order(8, 0.5), order(16, 2.5)]})
    of = pipeline(topic_of(kafka, topic))
    assert rows_read(ran(of, roots, 0, 3)) == [3, 1, 1]
    assert totals(of, roots) == {0: 11, 1: 4, 2: 16}
    assert rows_read(ran(of, roots, 0, 3)) == [3, 1, 1]
    assert totals(of, roots) == {0: 11, 1: 4, 2: 16}
    assert outdated(of, root=roots, start=hour(0), end=hour(3)) == []


# hours              0      1      2
# before batch 0     1
# before batch 1     2 (stamped 0.2, comes late)   4
# batch                1      2+4
def test_a_message_that_comes_late_is_in_the_next_batch(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1)]})
    assert rows_read(ran(of, str(tmp_path), 0, 1)) == [1]
    kafka.produce(topic, {0: [order(2, 0.2), order(4, 1.5)]})
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [2]
    assert rows_read(ran(of, str(tmp_path), 0, 2)) == [1, 2]
    assert totals(of, str(tmp_path)) == {0: 3, 1: 4}


# borders   0  1  2  3     batch 2 is read first: its start is the end of the topic then, so what comes later is not in 0 or 1
def test_batches_in_another_order_share_out_the_same_offsets(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 1.1)]})
    assert rows_read(ran(of, str(tmp_path), 2, 3)) == [0]
    kafka.produce(topic, {0: [order(4, 0.2), order(8, 2.2), order(16, 3.2)]})
    assert rows_read(ran(of, str(tmp_path), 0, 1)) == [1]
    assert rows_read(ran(of, str(tmp_path), 3, 4)) == [3]
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [1]
    assert totals(of, str(tmp_path)) == {0: 5, 1: 2, 2: 8, 3: 16}


def test_a_message_from_the_future_hides_none_of_those_behind_it(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.2, 24 * 365 * 100), order(4, 0.3), order(8, 1.1)]})
    assert sum(rows_read(ran(of, str(tmp_path), 0, 3))) == 4
    assert totals(of, str(tmp_path)) == {0: 7, 1: 8}


def test_the_time_of_a_topic_may_be_that_of_arrival(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic(message_timestamp_type="LogAppendTime")))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.2)]})
    assert rows_read(ran(of, str(tmp_path), 0, 2)) == [0, 0]


def test_a_topic_with_more_partitions_than_before(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic(1)))
    kafka.produce(topic, {0: [order(1, 0.1)]})
    ran(of, str(tmp_path), 0, 1)
    kafka.grow(topic, 3)
    kafka.produce(topic, {1: [order(2, 0.2)], 2: [order(4, 1.2)]})
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [2]
    assert rows_read(ran(of, str(tmp_path), 0, 2)) == [1, 2]
    assert totals(of, str(tmp_path)) == {0: 3, 1: 4}


# offsets  0 1 2 | 3 4      retention takes 0 and 1, then 2
def test_what_retention_has_taken_is_an_error_that_says_what_is_lost(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.2), order(4, 0.3), order(8, 1.1), order(16, 1.2)]})
    ran(of, str(tmp_path), 0, 2)
    before = totals(of, str(tmp_path))
    kafka.remove_before(topic, {0: 2})
    with pytest.raises(SourceError) as lost:
        ran(of, str(tmp_path), 0, 2)
    assert f"kafka://{kafka.address}/{topic}: 2 messages of the batch [2024-01-01, 2024-01-01T01:00)" in str(lost.value)
    assert "are gone from partition 0, the offsets 0 to 1" in str(lost.value)
    assert totals(of, str(tmp_path)) == before
    assert outdated(of, root=str(tmp_path), start=hour(0), end=hour(2)) == []
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [2]
    assert rows_read(ran(of, str(tmp_path), 0, 2, allow_missing=True)) == [1, 2]
    assert totals(of, str(tmp_path)) == {0: 4, 1: 24}


def test_messages_that_go_between_two_batches_are_an_error_of_the_next(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1)]})
    ran(of, str(tmp_path), 0, 1)
    kafka.produce(topic, {0: [order(2, 1.1), order(4, 1.2)]})
    kafka.remove_before(topic, {0: 2})
    with pytest.raises(SourceError, match=r"1 message of the batch .* are gone from partition 0, the offsets 1 to 1,"):
        ran(of, str(tmp_path), 1, 2)


def test_a_first_batch_of_which_messages_may_be_gone_is_refused(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.2), order(4, 1.2)]})
    kafka.remove_before(topic, {0: 1})
    with pytest.raises(SourceError, match="the offsets below 1 are gone from partition 0, and nobody knows which of them"):
        ran(of, str(tmp_path), 0, 2)
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [1]
    assert rows_read(ran(of, str(tmp_path), 0, 1, allow_missing=True)) == [1]


def test_a_topic_that_was_made_again_is_refused(kafka: Broker, tmp_path: Path) -> None:
    source = topic_of(kafka, kafka.topic())
    ran(pipeline(source), str(tmp_path), 0, 1)
    other = replace(source, topic=kafka.topic())
    kept_borders_of = kept_borders.table_of(source.topic)
    with (
        patch("muntin.extensions.kafka.borders.table_of", lambda _: kept_borders_of),
        pytest.raises(SourceError, match="was made again since its offsets were noted"),
    ):
        ran(pipeline(other), str(tmp_path), 1, 2)


# offsets  0 1 2    3 4    5 6      2, 4 and 6 are the marks of transactions, 3 is taken back
def test_transactions_leave_gaps_in_the_offsets(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.in_transaction(topic, [order(1, 0.1), order(2, 0.2)])
    kafka.in_transaction(topic, [order(1000, 0.3)], commit=False)
    kafka.in_transaction(topic, [order(4, 0.4)])
    for low, high, offsets in ((0, 7, [0, 1, 5]), (0, 6, [0, 1, 5]), (2, 5, []), (1, 4, [1]), (6, 7, [])):
        found = messages(topic_of(kafka, topic), checks.Range(topic, 0, low, high))
        assert found["kafka_offset"].to_pylist() == offsets


# offsets      0    1    2    3     4    5    6    7     8    9      2, 4, 6 and 9 are marks, which have the time of this test
# hour        0.1  0.9       0.5        1.5       2.2   1.1
def test_marks_of_transactions_are_no_borders(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    for hours in ([0.1, 0.9], [0.5], [1.5], [2.2, 1.1]):
        kafka.in_transaction(topic, [order(1, each) for each in hours])
    assert rows_read(ran(of, str(tmp_path / "a"), 0, 3)) == [3, 1, 2]
    assert rows_read(ran(of, str(tmp_path / "b"), 1, 2)) == [1]
    assert rows_read(ran(of, str(tmp_path / "b"), 0, 3)) == [3, 1, 2]


# offsets      0    1    2    3    4    5      1 is taken back, 2, 4 and 5 are marks
def test_messages_that_were_taken_back_are_no_borders(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.in_transaction(topic, [order(1000, 1.5)], commit=False)
    kafka.in_transaction(topic, [order(1, 0.5)])
    kafka.in_transaction(topic, [order(2, 1.7)])
    ran(of, str(tmp_path), 0, 2)
    assert totals(of, str(tmp_path)) == {0: 1, 1: 2}


def test_each_partition_has_borders_of_its_own_messages(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic(3)))
    kafka.in_transaction(topic, [order(1, 0.1)])
    kafka.in_transaction(topic, [order(1, 0.2)])
    kafka.produce(topic, {0: [order(1, 0.3), order(1, 1.1)], 1: [order(1, 1.2), order(1, 0.4), order(1, 2.1)]})
    assert rows_read(ran(of, str(tmp_path), 0, 4)) == [3, 3, 1, 0]


def test_a_run_that_goes_on_fetches_no_message_of_before(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    for at in (0.1, 0.9, 1.1, 1.9):
        kafka.in_transaction(topic, [order(1, at)])
    ran(of, str(tmp_path), 0, 2)
    with patch("muntin.extensions.kafka.first_messages._fetched", wraps=first_messages._fetched) as fetched:
        assert rows_read(ran(of, str(tmp_path), 2, 3)) == [0]
    assert {str(each.args[3:]) for each in fetched.call_args_list} == {str((ms(3) * 1000, {0: 8}))}


def test_local_times_of_fields_are_for_the_definition_to_decide(kafka: Broker, tmp_path: Path) -> None:
    topic, at = kafka.topic(), "2024-10-27T02:30:00"
    kafka.produce(topic, {0: [("a", json.dumps({"amount": 1, "shop": "a", "at": at}).encode(), ms(0.5))]})
    local: dict[str, Any] = {"columns": {**FIELDS, "at": "TIMESTAMP"}, "timezone": "Europe/Vienna"}
    limits = Limits(max_quarantined=None, max_ahead="365d")
    (waiting,) = ran(pipeline(topic_of(kafka, topic, **local), limits=limits), str(tmp_path / "a"), 0, 1).batches
    decided = pipeline(topic_of(kafka, topic, **local, ambiguous="second"), limits=limits)
    (second,) = ran(decided, str(tmp_path / "b"), 0, 1).batches
    assert [(each.rows_ambiguous, each.rows_quarantined) for each in (waiting, second)] == [(1, 1), (1, 0)]
    assert totals(decided, str(tmp_path / "b")) == {300 * 24 + 1: 1}


def test_compaction_leaves_gaps_in_the_offsets(kafka: Broker, tmp_path: Path) -> None:
    settings = {"cleanup_policy": "compact", "segment_ms": "1", "max_compaction_lag_ms": "1", "min_cleanable_dirty_ratio": "0.0"}
    of = pipeline(topic_of(kafka, topic := kafka.topic(**settings)))
    kafka.produce(topic, {0: [order(1, 0.1), order(2, 0.2), order(4, 0.3, shop="b"), order(8, 0.4)]})
    found = _after_compaction(kafka, topic)
    if found == 4:
        pytest.skip("the broker has not compacted the topic within five seconds")
    assert rows_read(ran(of, str(tmp_path), 0, 2))[0] == found
    assert rows_read(ran(of, str(tmp_path), 0, 2))[0] == found


def _after_compaction(kafka: Broker, topic: str) -> int:
    """How many messages are left; all, if the broker takes its time."""
    for _ in range(20):
        kafka.produce(topic, {0: [order(16, 5, shop="z")]})
        left = len(messages(topic_of(kafka, topic), checks.Range(topic, 0, 0, 4)))
        if left < 4:
            return left
        time.sleep(0.25)
    return 4


def test_a_message_that_is_no_row_is_one_row_of_the_quarantine(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    odd: list[Row] = [("k", b"{odd", ms(0.2)), ("k", b'{"amount": "much"}', ms(0.3)), ("k", b"\xff", ms(0.4)), ("k", b"[1]", ms(0.5))]
    kafka.produce(topic, {0: [order(1, 0.1), *odd, order(2, 0.6), order(4, 0.7)]})
    report = ran(of, str(tmp_path), 0, 1).batches[0]
    assert (report.rows_read, report.rows_accepted, report.rows_quarantined) == (7, 3, 4)
    assert totals(of, str(tmp_path)) == {0: 7}
    rows = quarantined(of, root=str(tmp_path)).to_pylist()
    assert {row["file"] for row in rows} == {f"kafka://{topic}/0/0-7"}
    assert [(row["line"], row["row"], row["reason"]) for row in rows] == [
        (1, "{odd", "no JSON: it cannot be parsed"),
        (2, '{"amount": "much"}', "amount cannot be read as DOUBLE: it is a text"),
        (3, "\\xff", "no json: byte 0xff is no UTF-8"),
        (4, "[1]", "no JSON: the value is no object but a list"),
    ]


def test_a_row_without_a_time_is_told_with_its_offset(kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [(None, b'{"amount": 1}', ms(0.1)), order(1, 0.1), ("gone", None, ms(0.2))]})
    assert ran(of, str(tmp_path), 0, 1).batches[0].rows_quarantined == 2
    rows = quarantined(of, root=str(tmp_path)).to_pylist()
    assert [(row["line"], row["reason"]) for row in rows] == [(0, "event time is null"), (2, "event time is null")]
    assert json.loads(rows[1]["row"])["kafka_key"] == "gone"


def test_keys_partitions_and_tombstones_are_columns(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(2)
    kafka.produce(topic, {0: [("a", b"x", ms(0.1)), ("b", None, ms(0.2))], 1: [("a", b"y", ms(0.3)), (None, b"z", ms(0.4))]})
    source = sources.kafka(kafka.address, topic, value="text", event_time="kafka_timestamp")
    counted = {"n": aggregates.count(), "values": aggregates.count("kafka_value"), "last": aggregates.max("kafka_offset")}
    of = pipeline(source, keys=["kafka_key", "kafka_partition"], aggregates=counted)
    ran(of, str(tmp_path), 0, 1)
    rows = read(of, "hour", root=str(tmp_path), provisional=True).to_pylist()
    found = {(row["kafka_key"], row["kafka_partition"]): (row["n"], row["values"], row["last"]) for row in rows}
    assert found == {("a", 0): (1, 1, 0), ("b", 0): (1, 0, 1), ("a", 1): (1, 1, 0), (None, 1): (1, 1, 1)}


class Killed(BaseException):
    """The process dies."""


@pytest.mark.parametrize("place", ["_read", "_commit_states"])
def test_a_run_that_dies_after_noting_its_offsets_reads_the_same_when_it_is_run_again(place: str, kafka: Broker, tmp_path: Path) -> None:
    of = pipeline(topic_of(kafka, topic := kafka.topic()))
    kafka.produce(topic, {0: [order(1, 0.1)]})
    with patch.object(accumulate, place, side_effect=Killed), suppress(Killed):
        ran(of, str(tmp_path), 0, 1)
    kafka.produce(topic, {0: [order(2, 0.2)]})
    assert rows_read(ran(of, str(tmp_path), 0, 1)) == [1]
    assert rows_read(ran(of, str(tmp_path), 1, 2)) == [1]


def test_a_changed_definition_reads_the_same_messages(kafka: Broker, tmp_path: Path) -> None:
    source = topic_of(kafka, topic := kafka.topic())
    kafka.produce(topic, {0: [order(1, 0.1)]})
    ran(pipeline(source), str(tmp_path), 0, 1)
    kafka.produce(topic, {0: [order(2, 0.2)]})
    assert rows_read(ran(pipeline(source, keys=["shop"]), str(tmp_path), 0, 2)) == [1, 1]


# What is random: when and where messages come, how they are stamped, which batches are run when, and where a run dies.
@pytest.mark.parametrize("seed", range(3))
def test_random_histories_equal_the_same_rows_in_files(seed: int, kafka: Broker, tmp_path: Path) -> None:
    dice, hours = random.Random(seed), 6
    topic, of = kafka.topic(partitions := dice.randint(1, 3)), None
    of = pipeline(topic_of(kafka, topic), keys=["shop"])
    sent, number, wanted = [], 0, set(range(hours))
    with patch.object(checks, "PIECE", dice.choice([3, 50_000])):
        for _ in range(10):
            messages = list(_messages(dice, hours, number))
            number += len(messages)
            sent += messages
            kafka.produce(topic, {at: messages[at::partitions] for at in range(partitions)})
            start = dice.randrange(hours)
            end = dice.randint(start + 1, hours)
            wanted -= {*range(start, end)}
            if dice.random() < 0.3:
                with patch.object(accumulate, dice.choice(["_read", "_commit_states"]), side_effect=Killed), suppress(Killed):
                    ran(of, str(tmp_path / "state"), start, end)
            ran(of, str(tmp_path / "state"), start, end)
        for start in sorted(wanted):
            ran(of, str(tmp_path / "state"), start, start + 1)
        _in_files(tmp_path / "files", sent)
        ran(of, str(tmp_path / "state"), hours, hours + 1)
    same = pipeline(sources.files(f"{tmp_path}/files/all.jsonl", event_time="at", types=FIELDS, all_files=True), name="same", keys=["shop"])
    ran(same, str(tmp_path / "same"), hours, hours + 1)
    assert _counts(of, tmp_path / "state") == _counts(same, tmp_path / "same")
    assert sum(_counts(of, tmp_path / "state").values()) == sum(json.loads(value)["amount"] for _, value, _ in sent)


def _messages(dice: random.Random, hours: int, number: int) -> Iterator[Row]:
    """Messages of which each has an amount that no sum of others equals, so that one twice or never is seen."""
    for at in range(dice.randint(0, 4)):
        happened = dice.uniform(0, hours)
        stamped = dice.choice([happened, dice.uniform(0, hours), 24 * 365 * 90])
        yield order(2.0 ** (number + at), happened, stamped, shop=dice.choice("ab"))


def _in_files(folder: Path, sent: list[Row]) -> None:
    folder.mkdir()
    (folder / "all.jsonl").write_bytes(b"".join(value + b"\n" for _, value, _ in sent if value))


def _counts(of: Pipeline, root: Path) -> dict[object, float]:
    rows = read(of, "hour", root=str(root), provisional=True).to_pylist()
    return {(row["shop"], row["window_start"]): row["total"] for row in rows}


def test_a_topic_beside_files(kafka: Broker, tmp_path: Path) -> None:
    """Each source has its rows, also in an hour without a message; a run again reads the same."""
    kafka.produce(topic := kafka.topic(), {0: [order(1, 0.1), order(2, 0.9, shop="b"), order(4, 2.5)]})
    for number in range(3):
        pq.write_table(pa.table({"came": [hour(number + 0.5)], "shop": ["a"]}), tmp_path / f"{number:02d}.parquet")
    both = pipeline(
        {"orders": topic_of(kafka, topic), "visits": sources.files(f"{tmp_path}/{{start:%H}}.parquet", event_time="came")},
        keys=["shop"],
        aggregates={"visits": aggregates.count(source="visits"), "total": aggregates.sum("amount", source="orders")},
    )
    for _ in range(2):
        report = ran(both, str(tmp_path / "state"), 0, 3)
        assert [{name: rows.read for name, rows in batch.sources.items()} for batch in report.batches] == [
            {"orders": 2, "visits": 1},
            {"orders": 0, "visits": 1},
            {"orders": 1, "visits": 1},
        ]
        rows = read(both, "hour", root=str(tmp_path / "state"), provisional=True).to_pylist()
        assert [(row["shop"], row["visits"], row["total"]) for row in rows] == [("a", 1, 1), ("a", 1, None), ("a", 1, 4), ("b", 0, 2)]
    assert outdated(both, root=str(tmp_path / "state"), start=hour(0), end=hour(3)) == []
