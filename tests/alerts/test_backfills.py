"""A backfill is one message: its runs are remembered until one of them is the last, whichever that is."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import pytest

from muntin.extensions.alerts import to
from muntin.extensions.alerts.alert import IDLE_S, InBackfill, expect, tell
from muntin.extensions.alerts.facts import Run
from muntin.extensions.alerts.message import Message
from tests.alerts.made import batch, check, hole, report, row, run

ALERTS = to("ops", quarantined=0.01)


@dataclass
class Desk:
    """A state, an Airflow that knows which runs have not ended, and what was sent."""

    state: Path
    unfinished: set[str]
    sent: list[Message] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    ending: list[set[str]] = field(default_factory=list)  # the runs that end after each of Airflow's next answers

    budget_s: float = 10

    def send(self, _channel: str, message: Message, _sent: list[int]) -> None:
        self.sent.append(message)

    def stands(self, name: str, *, inside: bool = True) -> InBackfill:
        def unfinished(names: Sequence[str] | None) -> int:
            with self.lock:
                found = len(self.unfinished if names is None else self.unfinished & set(names))
                self.unfinished -= self.ending.pop(0) if self.ending else set()
                return found

        return InBackfill(name, inside, unfinished, "http://airflow/dags/shop/backfills")

    def ends(self, name: str) -> None:
        """Say that a run is about to end."""
        expect(self.state, self.stands(name))

    def end(self, name: str, of: Run, *, inside: bool = True, known_as_ended: bool = True) -> None:
        """End a run. Airflow may learn of it later only."""

        tell(ALERTS, self.state, lambda: of, self, self.stands(name, inside=inside))
        if known_as_ended:
            with self.lock:
                self.unfinished.discard(name)


def failing(at: int) -> Run:
    return run(at, published=None, quality=(report(check(failing_rows=[row(f"key{at}", -1)])),))


def warned(at: int) -> Run:
    return run(at, batches=(batch(at, 100, 50),))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, {"one", "two", "three"})


def test_the_last_run_sends_one_message_for_all(desk: Desk) -> None:
    desk.end("two", failing(1))
    desk.end("three", run(2))
    assert desk.sent == []
    desk.end("one", warned(0))
    (told,) = desk.sent
    assert told.title == "shop: backfill of 3 runs, 1 failed, 1 critical, 1 warning"
    assert "key1" in told.text
    assert "quarantined rows above 1 %\n  [2024-01-01, 2024-01-01T01:00): 50 of 100 rows (50 %)" in told.text
    assert told.text.splitlines()[-1] == "  http://airflow/dags/shop/backfills"
    assert not list(desk.state.glob("alerts/backfill*"))


def test_runs_that_airflow_does_not_know_as_ended_yet_do_not_hold_the_message(desk: Desk) -> None:
    for at, name in enumerate(("one", "two", "three")):
        desk.end(name, failing(at), known_as_ended=False)
    assert [told.title for told in desk.sent] == ["shop: backfill of 3 runs, 3 failed, 3 critical"]


# Airflow   both run    two has ended    one has ended
# one                   ends, tells
# two       ends                         tells late
@pytest.mark.parametrize("two", [run(1), failing(1)])
def test_a_run_that_airflow_counts_as_ended_before_it_tells_is_waited_for(desk: Desk, two: Run) -> None:
    desk.unfinished = {"one", "two"}
    desk.ends("one")
    desk.ends("two")
    desk.unfinished = {"one"}
    desk.end("one", warned(0), known_as_ended=False)
    assert desk.sent == []
    desk.end("two", two, known_as_ended=False)
    assert [told.title.partition(",")[0] for told in desk.sent] == ["shop: backfill of 2 runs"]


# one told before, three runs on
# two ends and tells; meanwhile Airflow answers   .   .   .   and after one of the answers learns that one has ended
@pytest.mark.parametrize("answers", range(4))
@pytest.mark.parametrize("three_runs", [True, False])
def test_a_run_that_ends_between_two_answers_of_airflow_is_counted_in_both_or_in_none(desk: Desk, answers: int, three_runs: bool) -> None:
    desk.end("one", warned(0), known_as_ended=False)
    desk.unfinished -= set() if three_runs else {"three"}
    desk.ending = [set()] * answers + [{"one", "two"} if not three_runs else {"one"}]
    desk.end("two", run(1), known_as_ended=False)
    assert [told.title for told in desk.sent] == ([] if three_runs else ["shop: backfill of 2 runs, 0 failed, 1 warning"])


def test_a_run_that_was_killed_before_it_told_is_not_waited_for_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.unfinished = {"one"}
    desk.ends("two")
    monkeypatch.setattr("muntin.extensions.alerts.backfills.EXPECTED_S", -1)
    desk.end("one", failing(0))
    assert [told.title for told in desk.sent] == ["shop: backfill of 1 run, 1 failed, 1 critical"]
    assert not list(desk.state.glob("alerts/backfill*"))


def test_500_failing_runs_at_once_are_one_message(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {str(at) for at in range(500)})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: desk.end(str(at), failing(at)), range(500)))
    (told,) = desk.sent
    assert told.title == "shop: backfill of 500 runs, 500 failed, 500 critical"
    assert told.text.count("  key") == 10
    assert len(told.text) < 3_000


def test_a_backfill_that_is_well_sends_nothing_and_leaves_nothing(desk: Desk) -> None:
    for at, name in enumerate(("one", "two", "three")):
        desk.end(name, run(at))
    assert desk.sent == []
    assert not list(desk.state.glob("alerts/backfill*"))


def test_a_run_that_is_cleared_counts_as_it_ended_last(desk: Desk) -> None:
    desk.end("one", failing(0), known_as_ended=False)
    desk.end("one", run(0))
    desk.end("two", run(1))
    desk.end("three", warned(2))
    assert [told.title for told in desk.sent] == ["shop: backfill of 3 runs, 0 failed, 1 warning"]


def test_a_scheduled_run_has_its_own_message_and_sends_the_summary_of_a_backfill_whose_last_run_was_killed(desk: Desk) -> None:
    desk.end("one", failing(0))
    desk.end("two", run(1))
    desk.unfinished = {"scheduled"}  # three was killed: no callback
    desk.end("scheduled", warned(9), inside=False)
    assert [told.title.partition(",")[0] for told in desk.sent] == ["shop: 1 warning", "shop: backfill of 2 runs"]


def test_a_dag_that_is_never_idle_sends_the_summary_some_time_later(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.end("one", failing(0))
    desk.end("scheduled", run(9), inside=False)
    assert desk.sent == []
    monkeypatch.setattr("muntin.extensions.alerts.alert.IDLE_S", -1)
    assert IDLE_S > 0
    desk.end("scheduled", run(10), inside=False)
    assert [told.title for told in desk.sent] == ["shop: backfill of 1 run, 1 failed, 1 critical"]


def test_what_a_backfill_mends_is_said_in_its_message(desk: Desk) -> None:
    desk.end("scheduled", run(0, published=None, failure="SourceError: no file"), inside=False)
    for at, name in enumerate(("one", "two", "three")):
        desk.end(name, run(at))
    assert [told.title for told in desk.sent[1:]] == ["shop: backfill of 3 runs, 0 failed, well again"]
    assert "the run failed: [2024-01-01, 2024-01-01T01:00)" in desk.sent[1].text


def test_a_hole_that_a_backfill_opens_and_fills_is_nothing_to_tell(desk: Desk) -> None:
    desk.end("three", run(5, missing=(hole(1, 5, 4),)))
    desk.end("one", run(1))
    desk.end("two", run(2))
    assert desk.sent == []


def test_what_a_batch_of_a_backfill_is_and_the_next_is_not_is_no_recovery(desk: Desk) -> None:
    desk.end("one", warned(0))
    desk.end("two", run(1))
    desk.end("three", run(2))
    assert "well again" not in desk.sent[0].text


@pytest.mark.parametrize("inside", [True, False])
def test_where_the_disk_takes_nothing_a_run_is_told_all_the_same(desk: Desk, inside: bool) -> None:
    (desk.state / "alerts").write_text("in the way of the folder")
    desk.end("one", failing(0), inside=inside)
    assert [told.title.partition(",")[0] for told in desk.sent] == ["shop: 1 critical"]
