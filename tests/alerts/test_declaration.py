"""What may be said about alerts, and what is refused with the way out."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin.errors import DefinitionError
from muntin.extensions import alerts
from muntin.jobs.state.definition_note import described
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.storage.three_batches import Small


class Notifier:
    def notify(self, context: object) -> None: ...


@pytest.mark.parametrize("channel", ["alerts", "my-team.alerts_2", "env:MUNTIN_ALERTS", Notifier(), Notifier])
def test_a_channel_is_a_name_a_notifier_or_a_function(channel: Any) -> None:
    assert alerts.to(channel).channels == (channel,)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (alerts.to, "to whom"),
        (lambda: alerts.to("slack://token/token"), 'alerts.to("env:MUNTIN_ALERTS")'),
        (lambda: alerts.to("ops", "team", "ops"), "'ops' stands twice"),
        (lambda: alerts.to("two words"), "names neither"),
        (lambda: alerts.to("env:"), "names neither"),
        (lambda: alerts.to(7), "int is no channel"),
        (lambda: alerts.to("x", late=5), "write 0.01 for one of a hundred"),
        (lambda: alerts.to("x", quarantined=True), "not a share"),
        (lambda: alerts.to("x", hole_after=0), "hole_after"),
        (lambda: alerts.to("x", empty_after=1.5), "empty_after"),
        (lambda: alerts.to("x", mask="email"), 'write ["email"]'),
        (lambda: alerts.to("x", silent_after="soon"), "silent_after"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        wrong()
    assert words in str(refused.value)


@pytest.mark.parametrize("address", ["json://user:hunter2@host/path", "slack://hunter2/B/C", "mailto://hunter2@example.com"])
def test_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        alerts.to(address)
    assert "hunter2" not in str(refused.value)


def test_a_pipeline_refuses_what_are_no_alerts(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"give alerts\.to\("):
        replace(Small(tmp_path).pipeline, alerts="alerts")


def test_a_masked_column_must_be_there(tmp_path: Path) -> None:
    small = Small(tmp_path).pipeline
    with pytest.raises(DefinitionError, match="no result has a column 'emial'"):
        replace(small, alerts=alerts.to("alerts", mask=["emial"]))
    for name in ("k", "K", "total"):
        assert replace(small, alerts=alerts.to("alerts", mask=[name])).alerts


def test_alerts_are_no_part_of_states_and_results(tmp_path: Path) -> None:
    plain = Small(tmp_path).pipeline
    told = replace(plain, alerts=alerts.to("alerts", late=0.1))
    assert fingerprint(plain) == fingerprint(told)
    assert derivation(plain, "hours") == derivation(told, "hours")
    assert described(plain) == described(told)


def test_a_notifier_does_not_travel_to_spark(tmp_path: Path) -> None:
    from threading import Lock

    class Held(Notifier):
        def __init__(self) -> None:
            self.held = Lock()  # cannot be pickled

    told = alerts.to("alerts", Held(), lambda: Held(), mask=["k"], late=0.5)  # noqa: PLW0108 - a function
    sent = pickle.loads(pickle.dumps(replace(Small(tmp_path).pipeline, alerts=told).alerts))  # noqa: S301 - our own bytes
    assert sent == alerts.to("alerts", mask=["k"], late=0.5)
