"""A topic as a whole: all messages that it has now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.extensions.kafka.topics.broker import Broker
from muntin.extensions.kafka.topics.ranges import Range
from muntin.sources.listing import SourceFile

if TYPE_CHECKING:
    from muntin.extensions.kafka.source import KafkaSource


def all_messages(source: KafkaSource) -> list[SourceFile]:
    """The ranges of all messages of a topic, by partition and offset."""
    topic = Broker(source).topic()
    whole = (Range(source.topic, partition, topic.low[partition], high) for partition, high in sorted(topic.high.items()))
    return [SourceFile(piece.address, piece.size, 0) for each in whole for piece in each.pieces()]
