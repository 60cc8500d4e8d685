"""A message that something is well again speaks of the interval that was ill, over several runs of a state."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from muntin.extensions.alerts import to
from muntin.extensions.alerts.alert import tell
from muntin.extensions.alerts.facts import Run
from muntin.extensions.alerts.message import Message
from tests.alerts.made import batch, check, hours, report, run

ALERTS = to("ops", quarantined=0.01)
ONE, FIVE, SIX = (str(hours(at)) for at in (1, 5, 6))


@dataclass
class Desk:
    """A state, and what was sent of its runs."""

    state: Path
    sent: list[Message] = field(default_factory=list)
    budget_s: float = 10

    def send(self, _channel: str, message: Message, _sent: list[int]) -> None:
        self.sent.append(message)

    def well_after(self, *runs: Run) -> list[str]:
        """The lines below "well again:" of the messages of these runs."""
        self.sent.clear()
        for each in runs:
            tell(ALERTS, self.state, lambda each=each: each, self)
        texts = [one.text.partition("well again:\n")[2].partition("\n\n")[0] for one in self.sent]
        return [line.strip().rpartition(")): ")[2] or line for text in texts for line in text.splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def ill(at: int) -> Run:
    return run(at, published=None, quality=(report(check()),))


def well(at: int, *published: int) -> Run:
    return run(at, quality=(report(check(success=True)),), published={"day": [hours(each).start_us for each in published or (at,)]})


def failed(at: int) -> Run:
    return run(at, published=None, failure="SourceError: no file")


def shared(at: int, quarantined: int) -> Run:
    return run(at, batches=(batch(at, 100, quarantined),))


def intervals(lines: list[str]) -> list[str]:
    return [line[line.index("[2024") :] for line in lines]


@pytest.mark.parametrize("ill_run", [ill, failed])
def test_one_of_two_failed_runs_is_well_and_then_the_other(desk: Desk, ill_run: object) -> None:
    assert callable(ill_run)
    assert desk.well_after(ill_run(1), ill_run(5)) == []
    assert intervals(desk.well_after(well(5))) == [FIVE]
    assert [one.title for one in desk.sent] == [f"shop: well again, {FIVE}"]
    assert desk.well_after(well(6), well(7)) == []
    assert intervals(desk.well_after(well(1))) == [ONE]
    assert desk.well_after(well(1), well(5)) == []


def test_a_run_that_publishes_what_waited_is_told_of_all_that_waited(desk: Desk) -> None:
    assert desk.well_after(ill(1), ill(5)) == []
    assert intervals(desk.well_after(well(6, 1, 5, 6))) == [ONE, FIVE]
    assert [one.title for one in desk.sent] == ["shop: well again, 2 intervals"]


def test_of_what_held_nothing_the_newest_ill_interval_and_the_well_one_are_told(desk: Desk) -> None:
    assert desk.well_after(shared(1, 50), shared(5, 50), shared(1, 50)) == []
    assert intervals(desk.well_after(shared(6, 0))) == [f"{FIVE}, not in {SIX}"]
    assert desk.well_after(shared(7, 0)) == []
