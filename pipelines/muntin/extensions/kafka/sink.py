"""A topic of Kafka as a sink, as a definition declares it.

Nothing is imported or reached before something is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError
from muntin.sinks.addresses import is_a_name
from muntin.sinks.declaration import Declared, OnUnsupported, choice_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from muntin.sinks.delivery import Opened, Reach

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_BROKERS = re.compile(r"[^,:/@\s]+:\d+(,[^,:/@\s]+:\d+)*")


@dataclass(frozen=True, slots=True)
class KafkaSink(Declared):
    """A topic of Kafka; `kafka` makes it."""

    address: str
    topic: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"

    package = "confluent_kafka"

    @property
    def name(self) -> str:
        return f"topic {self.topic} at {self.address}"

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        from muntin.extensions.kafka.sink_topic import opened

        return opened(self, reach)


def kafka(
    address: str, topic: str, *, window: str | None = None, on_unsupported: OnUnsupported = "quarantine"
) -> KafkaSink:
    """A topic of Kafka that gets a message for each window that changed, at least once, with a revision
    number.

    >>> kafka("broker:9092", "flights-day", window="day").name
    'topic flights-day at broker:9092'

    Args:
        address: brokers as "one:9092,two:9092"; the name of an Airflow connection of type kafka; or
            `env:NAME`, an environment variable that holds brokers or a JSON object with the settings of
            librdkafka.
        topic: its name. It has to exist.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window whose message the brokers refuse, as it is too large.
            "quarantine": it is left out, and `muntin status --sinks` names it; "replace": its largest results
            are null; "stop": nothing is sent until that is mended.

    Raises:
        DefinitionError: an address with a password; a name that cannot be.
    """
    if not isinstance(topic, str) or not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise DefinitionError(f'sinks.kafka: {topic!r} is not the name of a topic; write "flights-day"')
    if not isinstance(address, str) or not (_BROKERS.fullmatch(address) or is_a_name(address)):
        raise DefinitionError(
            'sinks.kafka: the address is neither brokers nor a name; write "broker:9092", "env:NAME", or the'
            " name of an Airflow connection"
        )
    return KafkaSink(address, topic, window, choice_of(on_unsupported, "sinks.kafka"))
