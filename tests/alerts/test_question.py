"""The story of a question, a row of its table after the other: who is told what, and when (docs/expectations.md)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin.extensions.airflow.deadlines import question_of, tell_of_silence
from muntin.extensions.alerts.addresses import of_environment
from muntin.extensions.alerts.alert import InBackfill, tell
from muntin.extensions.alerts.facts import Run
from muntin.extensions.alerts.findings import masked_report
from muntin.extensions.alerts.message import not_fresh, silence
from muntin.jobs.records.attempts import begun, note
from muntin.quality.report import verdict_lines
from tests.alerts.made import check, hours, report, row, run
from tests.alerts.receivers import Webhook
from tests.alerts.test_well_again import ALERTS, Desk, well

FORM = "https://airflow/dags/shop/runs/manual__1/tasks/ask/required_actions"
UNTIL_US = hours(30).start_us
SAID = {"verdict": "3f2a", "windows": {"day": "failed"}, "by": "ann", "reason": "a strike"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def asked(at: int) -> Run:
    return run(at, published=None, quality=(report(check()),), asked_until_us=UNTIL_US, link=FORM, verdict="3f2a")


def approved(at: int, *published: int) -> Run:
    """A run that published as a person said, and whose reports of validation say once more what failed."""
    starts = [hours(each).start_us for each in published or (at,)]
    return run(at, quality=(report(check()),), published={"day": starts}, approved=(SAID,))


def kept(at: int, why: str) -> Run:
    return run(at, published=None, kept=why, link="https://airflow/run", verdict="3f2a")


def told(desk: Desk, *runs: Run, backfill: InBackfill | None = None) -> list[tuple[str, str]]:
    desk.sent.clear()
    for each in runs:
        tell(ALERTS, desk.state, lambda each=each: each, desk, backfill)
    return [(one.tone, one.title) for one in desk.sent]


def test_who_is_asked_learns_what_failed_where_the_question_waits_and_until_when(desk: Desk) -> None:
    assert told(desk, asked(1)) == [("failure", f"shop: a question waits, 1 critical, {hours(1)}")]
    lines = desk.sent[0].text.splitlines()
    assert "  1 row not as expected (12.5 %)" in lines
    assert "  answer it until 2024-01-02T06:00 UTC in Airflow, under Required Actions:" in lines
    assert f"  {FORM}" in lines


def test_what_is_approved_is_not_well_again_but_published_by_somebody_for_a_reason(desk: Desk) -> None:
    assert len(told(desk, asked(1))) == 1
    assert told(desk, approved(1)) == [("warning", f"shop: published as approved, {hours(1)}")]
    (message,) = desk.sent
    assert "published although a check failed:\n  ann: a strike\n" in message.text
    assert "well again" not in message.text
    assert "critical" not in message.text
    assert told(desk, approved(1), well(2), well(1)) == []


def test_an_approval_of_several_intervals_ends_each_of_them(desk: Desk) -> None:
    told(desk, asked(1), asked(2))
    assert told(desk, approved(2, 1, 2)) == [("warning", f"shop: published as approved, {hours(2)}")]
    assert all(str(hours(at)) in desk.sent[0].text for at in (1, 2))
    assert told(desk, well(1), well(2)) == []


def test_what_somebody_else_approved_is_not_well_again_either(desk: Desk) -> None:
    """By `muntin publish`: the run that asked finds nothing left to publish, and its report says who approved."""
    told(desk, asked(1))
    assert told(desk, replace(approved(1), published={}, quality=())) == [("warning", f"shop: published as approved, {hours(1)}")]


def test_another_problem_of_the_run_is_well_again_beside_an_approval(desk: Desk) -> None:
    failed = run(1, published=None, failure="SourceError: no file")
    told(desk, failed, asked(1))
    told(desk, approved(1))
    (message,) = desk.sent
    assert "published although a check failed:" in message.text
    assert f"well again:\n  the run failed: {hours(1)}" in message.text


def test_mended_data_is_well_again(desk: Desk) -> None:
    told(desk, asked(1))
    assert told(desk, well(1)) == [("success", f"shop: well again, {hours(1)}")]


@pytest.mark.parametrize("why", ["ann said 'Keep it held': not a strike", "nobody answered within 4h"])
def test_what_is_kept_is_said_with_who_and_why_and_what_can_be_done(desk: Desk, why: str) -> None:
    told(desk, asked(1))
    assert told(desk, kept(1, f"held by the verdict 3f2a: {why}; nothing was published")) == [("failure", f"shop: stays held, {hours(1)}")]
    text = desk.sent[0].text
    assert why in text
    assert "muntin publish FILE --despite 3f2a --reason WHY" in text
    assert "Error" not in text
    assert "not as expected" not in text  # the question has said so
    told(desk, well(1))
    assert desk.sent[0].text.count(str(hours(1))) == 2  # in the head, and once below "well again"


def test_in_a_backfill_a_question_and_its_end_are_said_at_once(desk: Desk) -> None:
    inside = InBackfill("backfill__1", True, lambda _: 1)
    assert len(told(desk, asked(1), backfill=inside)) == 1
    assert len(told(desk, approved(1), backfill=inside)) == 1
    assert len(told(desk, kept(2, "nobody answered"), backfill=inside)) == 1


def test_a_deadline_speaks_of_the_question_and_not_of_spark(tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.extensions.airflow.alerting.addresses_of", of_environment)
    monkeypatch.setenv("MUNTIN_ALERTS", hook.address())
    state = tmp_path / "state/shop/3f2a"
    state.mkdir(parents=True)
    mine = replace(begun("manual__1", [hours(1)], "ask", FORM.removesuffix("/required_actions") + "?try_number=1"), at_us=0, phase="queued")
    note(state, mine)
    asking = {"home": str(tmp_path), "root": "state", "within_us": UNTIL_US}
    question = question_of("shop", "manual__1", asking)
    assert question
    assert (question.until_us, question.link) == (UNTIL_US, FORM)
    assert question_of("shop", "manual__2", asking) is None
    assert question_of("shop", "manual__1", {**asking, "root": "nowhere"}) is None
    context = {"dag_run": {"dag_run_id": "manual__1", "run_type": "manual", "state": "running"}}
    tell_of_silence(context, "shop", ["env:MUNTIN_ALERTS"], 1, asking)
    (posted,) = hook.posted
    assert "answer it until 2024-01-02T06:00 UTC" in posted["message"]
    assert "Spark" not in posted["message"]
    for made in (silence("shop", "r", None, "2h", question), not_fresh("shop", "r", None, "2h", question)):
        assert FORM in made.text
    assert "Spark" in silence("shop", "r", None, "2h").text


@pytest.mark.parametrize(
    ("facts", "hides"),
    [
        ({"failing_rows": [row("ann", -1)]}, "ann"),
        ({"column": "who", "unexpected_count": None, "observed_value": "ann"}, "ann"),
        ({"column": None, "unexpected_count": None, "observed_value": "ann"}, "ann"),  # nobody knows what SQL shows
        ({"column": "total, who", "error": "no order of ann"}, "ann"),
    ],
)
def test_masked_columns_are_masked_in_the_question(facts: dict[str, Any], hides: str) -> None:
    one = report(check(**facts))
    assert hides in str(verdict_lines(one))
    assert hides not in str(verdict_lines(masked_report(one, ["WHO"])))
    assert masked_report(one, []) == {**one, "checks": [{**one["checks"][0], "failing_rows": tuple(one["checks"][0]["failing_rows"])}]}


def test_a_number_of_rows_hides_nothing() -> None:
    one = report(check(type="expect_table_row_count_to_be_between", column=None, unexpected_count=None, observed_value=7))
    assert "observed 7" in str(verdict_lines(masked_report(one, ["who"])))
