"""Facts of a topic from its broker: its partitions, and their offsets now and at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from muntin.extensions.kafka.client import ANSWER_S, answer, to_ask, until_led, worded
from muntin.extensions.kafka.source import KafkaSource

Offsets = dict[int, int]
"""Partition -> offset."""
_AT_ONCE = 64  # questions
_STAY = -1


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now.

    Attributes:
        identity: what the broker calls it; another one if it is made again.
        low: partition -> the first offset that is still there.
        high: partition -> the offset behind the last that can be read: messages of open transactions cannot.
        stays_us: for how long messages stay by their time, in microseconds; -1 for ever; None: not known, or
            messages go by size, too.
    """

    identity: str
    low: Offsets
    high: Offsets
    stays_us: int | None


@dataclass(frozen=True, slots=True)
class First:
    """The first message of an instant or later in a partition.

    Attributes:
        offset: of the message; where there is none, the end of the partition.
        stamped_us: the time that the broker has of it; None where there is none.
    """

    offset: int
    stamped_us: int | None = None


class Broker:
    """The broker of a topic. Each question is answered within seconds, or is an error."""

    def __init__(self, source: KafkaSource) -> None:
        self.source = source
        self.client, self.error_log = to_ask(source)

    def topic(self) -> Topic:
        from confluent_kafka import TopicCollection
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        name = self.source.topic
        with worded(self.source, self.client, self.error_log):
            description = self._answer(
                self.client.describe_topics(TopicCollection([name]), request_timeout=ANSWER_S)[name]
            )
            partitions = sorted(each.id for each in description.partitions)
            low, high = (
                {at: each.offset for at, each in until_led(partial(self._asked, partitions, spec)).items()}
                for spec in (OffsetSpec.earliest(), OffsetSpec.latest())  # type: ignore[no-untyped-call]
            )
        return Topic(str(description.topic_id), low, high, self._stays_us())

    def first_at(self, instants_us: Sequence[int], topic: Topic) -> dict[int, dict[int, First]]:
        """Instant -> partition -> the first message of this time or later; where no such message is, the end
        of the partition.
        """
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        out: dict[int, dict[int, First]] = {}
        with worded(self.source, self.client, self.error_log):
            for begin in range(0, len(instants_us), _AT_ONCE):
                some = {
                    us: OffsetSpec.for_timestamp(max(0, -(-us // 1000)))
                    for us in instants_us[begin : begin + _AT_ONCE]
                }
                out |= until_led(partial(self._firsts, some, topic))
        return out

    def _firsts(self, specs: Mapping[int, Any], topic: Topic) -> dict[int, dict[int, First]]:
        asked = {us: self._questions(topic.low, spec) for us, spec in specs.items()}
        return {us: _first(self._answers(futures), topic) for us, futures in asked.items()}

    def _asked(self, partitions: Iterable[int], spec: Any) -> dict[int, Any]:  # noqa: ANN401 - an OffsetSpec
        return self._answers(self._questions(partitions, spec))

    def _answers(self, futures: Mapping[Any, Any]) -> dict[int, Any]:
        return {asked.partition: self._answer(future) for asked, future in futures.items()}

    def _answer(self, future: Any) -> Any:  # noqa: ANN401 - what was asked for
        return answer(self.client, self.error_log, future)

    def _questions(self, partitions: Iterable[int], spec: Any) -> Mapping[Any, Any]:  # noqa: ANN401 - as above
        from confluent_kafka import IsolationLevel, TopicPartition

        asked = {TopicPartition(self.source.topic, at): spec for at in partitions}
        how = {"isolation_level": IsolationLevel.READ_COMMITTED, "request_timeout": ANSWER_S}
        return self.client.list_offsets(asked, **how)  # type: ignore[no-any-return]

    def _stays_us(self) -> int | None:
        """How long messages stay; None where the credentials may not ask."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import ConfigResource, ResourceType  # type: ignore[attr-defined]

        asked = ConfigResource(ResourceType.TOPIC, self.source.topic)
        try:
            config = self._answer(self.client.describe_configs([asked], request_timeout=ANSWER_S)[asked])
        except KafkaException:
            return None
        time_ms, size = (config[name].value for name in ("retention.ms", "retention.bytes"))
        if int(size) != _STAY:
            return None
        return _STAY if int(time_ms) == _STAY else int(time_ms) * 1000


def _first(answers: Mapping[int, Any], topic: Topic) -> dict[int, First]:
    first_of_partition = {at: each for at, each in sorted(answers.items()) if each.offset >= 0}
    return {
        at: First(first_of_partition[at].offset, first_of_partition[at].timestamp * 1000)
        if at in first_of_partition
        else First(high)
        for at, high in topic.high.items()
    }
