"""Partitions that change their leaders are asked again, for some seconds."""

import pytest

from muntin.extensions.kafka import client
from muntin.extensions.kafka.client import until_led

confluent_kafka = pytest.importorskip("confluent_kafka")


def moved(name: str = "NOT_LEADER_FOR_PARTITION") -> Exception:
    """What a broker answers that does not lead a partition any more."""
    return confluent_kafka.KafkaException(confluent_kafka.KafkaError(getattr(confluent_kafka.KafkaError, name)))


def test_a_question_is_asked_until_there_is_a_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_AGAIN_S", 0)
    answers = iter([moved(), moved("LEADER_NOT_AVAILABLE"), 7])

    def ask() -> int:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    assert until_led(ask) == 7


@pytest.mark.parametrize(("name", "seconds"), [("NOT_LEADER_FOR_PARTITION", 0), ("TOPIC_AUTHORIZATION_FAILED", 6)])
def test_not_for_ever_and_not_what_is_refused(name: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_S", seconds)
    monkeypatch.setattr(client, "_AGAIN_S", 0)

    def ask() -> int:
        raise moved(name)

    with pytest.raises(confluent_kafka.KafkaException):
        until_led(ask)
