"""The first messages of instants. What a broker finds for an instant need not be a message.

offsets    0      1      2        3      4
           00:10  00:20  mark     00:40  01:10        a mark ends a transaction, and has the broker's clock:
           of today, behind every instant
found for 01:00          2               4            the broker finds 2; the first message is 4

Messages of transactions that were taken back are found by brokers as well, and are none. So a message is
fetched at each offset that a broker found; if it is none of that time, the messages behind it are fetched, up
to the first message of that time, or the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from muntin.extensions.kafka.broker import First, Offsets
from muntin.extensions.kafka.client import ErrorLog, broker_error, to_consume
from muntin.extensions.kafka.source import KafkaSource

Firsts = Mapping[int, Mapping[int, First]]  # instant -> partition -> the first of it


# Little is fetched at once, as the first message mostly is the one.
_LITTLE = {"fetch.message.max.bytes": "65536", "queued.max.messages.kbytes": "4096"}
_WAIT_S, _SILENCE_S = 0.2, 8.0


def first_messages(
    source: KafkaSource, broker_answers: Firsts, noted: Mapping[int, Offsets]
) -> dict[int, dict[int, First]]:
    """The first message of each instant or later in each partition; where no such message is, the end of the
    partition.

    `broker_answers`: instant -> partition -> first message, as the broker gives it; `noted`: instant -> the
    offsets of its border. Messages of later instants are looked for behind it, so that a run that goes on
    with a topic fetches none of before.
    """
    out, before = dict[int, dict[int, First]](), dict[int, First]()
    with _client(source) as client:
        for instant in sorted(broker_answers):
            floor = noted[max(earlier)] if (earlier := [each for each in noted if each < instant]) else {}
            behind = {
                at: max(floor.get(at, 0), before[at].offset if at in before else 0)
                for at in broker_answers[instant]
            }
            first_of_partition = {
                at: one for at, one in broker_answers[instant].items() if one.stamped_us is None
            }
            first_of_partition |= {
                at: one
                for at, one in before.items()
                if at in behind and one.offset == behind[at] and _is_of(one, instant)
            }
            starts = {
                at: max(one.offset, behind[at])
                for at, one in broker_answers[instant].items()
                if at not in first_of_partition
            }
            before = out[instant] = {
                **first_of_partition,
                **(_fetched(source, *client(), instant, starts) if starts else {}),
            }
    return out


def _is_of(one: First, instant: int) -> bool:
    """Whether a message is of an instant or later, or there is no later one."""
    return one.stamped_us is None or one.stamped_us >= instant


@contextmanager
def _client(source: KafkaSource) -> Iterator[Callable[[], tuple[Any, ErrorLog]]]:
    """A client, made when it is first asked for."""
    client_factory = cache(lambda: to_consume(source, _LITTLE))
    try:
        yield client_factory
    finally:
        if client_factory.cache_info().currsize:
            client_factory()[0].close()


def _fetched(
    source: KafkaSource,
    client: Any,  # noqa: ANN401 - a Consumer
    error_log: ErrorLog,
    instant: int,
    starts: Offsets,
) -> dict[int, First]:
    """The first message of an instant or later from an offset on. `starts`: partition -> the offset."""
    from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, TopicPartition

    asked = [TopicPartition(source.topic, at, start) for at, start in starts.items()]
    client.assign(asked)
    client.resume(asked)  # what was paused for an earlier instant stays so
    out, heard = dict[int, First](), time.monotonic()
    while len(out) < len(starts):
        one = client.poll(_WAIT_S)
        if one is None:
            if time.monotonic() - heard > _SILENCE_S:
                raise broker_error(source, "_TIMED_OUT", error_log)
            continue
        heard = time.monotonic()
        if one.error() is not None and one.error().name() != "_PARTITION_EOF":
            raise broker_error(source, one.error().name(), error_log, one.error().str())
        kind, ms = one.timestamp() if one.error() is None else (TIMESTAMP_NOT_AVAILABLE, 0)
        first = First(one.offset(), None if kind == TIMESTAMP_NOT_AVAILABLE else ms * 1000)
        if one.partition() not in out and (
            one.error() is not None or (first.stamped_us is not None and _is_of(first, instant))
        ):
            out[one.partition()] = first
            client.pause([TopicPartition(source.topic, one.partition())])
    return out
