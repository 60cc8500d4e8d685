"""The task `ask` without a scheduler: the text of its question, and what becomes of answers, of time that is over, and of other runs."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException, TaskAwaitingInput

from muntin import Limits
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.airflow.asking import AGAIN, KeptHeldError, _now_us, ask, question
from muntin.extensions.alerts.gathered import unpublished
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.held import HeldWindows, held_windows
from muntin.jobs.records.verdicts import record_verdicts
from muntin.jobs.run import run
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.alerts.made import check, report, row
from tests.end_to_end.hourly import Hourly, hour, times

TIMEOUT = {"error": "over", "error_type": "timeout"}
HOUR_US = 3_600_000_000


@pytest.fixture
def hourly(tmp_path: Path) -> Hourly:
    """An hour of which windows are staged, and held."""
    (tmp_path / "suite.json").write_text('{"name": "s", "expectations": []}')
    asking = {"expectations": {"hour": f"{tmp_path}/suite.json"}, "limits": Limits(ask_within="4h")}
    hourly = Hourly(tmp_path, other=asking)
    hourly.write("00.parquet", {"at": times(1)})
    hourly.run(validate=False)
    hourly.write("00.parquet", {"at": times(1, 2)})
    with pytest.raises(RuntimeError):
        run(hourly.pipeline, root=hourly.root, start=hour(0), end=hour(1), spark=Local(1), progress=_until_finalize, validate=False)
    bound = bind(hourly.pipeline, hourly.root)
    staged = finalize(bound, Local(1), [instant_us(hour(0), "start")])
    record_verdicts(bound, staged, {"hour": report(check(), window="hour")})
    return hourly


def _until_finalize(step: str) -> None:
    if step == "finalize":
        raise RuntimeError


def held(hourly: Hourly) -> HeldWindows:
    (one,) = held_windows(bind(hourly.pipeline, hourly.root))
    return one


def complete(hourly: Hourly, folder: str, event: dict[str, Any], verdict: str, until_us: int = 0) -> Any:
    place = SimpleNamespace(bound=bind(hourly.pipeline, hourly.root), interval=Interval(0, 1))
    task = ask(hourly.pipeline, lambda _: place, "finalize", lambda _: nullcontext(), lambda *_: None)  # type: ignore[arg-type,return-value]
    context: Any = {"ti": SimpleNamespace(xcom_pull=lambda **_: {"folder": folder})}
    return task.execute_complete(context, event, verdict, until_us)


def answered(option: str, reason: str = "") -> dict[str, Any]:
    who = {"id": "1", "name": "ann"}
    return {"chosen_options": [option], "params_input": {"reason": reason}, "responded_at": hour(1), "responded_by_user": who}


def test_a_question_looks_now_and_then_whether_it_is_over(hourly: Hourly) -> None:
    one, until_us = held(hourly), _now_us() + HOUR_US
    with pytest.raises(TaskAwaitingInput) as parked:
        complete(hourly, one.staged.folder, TIMEOUT, one.name, until_us)
    assert (parked.value.kwargs, parked.value.timeout) == ({"verdict": one.name, "until_us": until_us}, AGAIN)
    with pytest.raises(TaskAwaitingInput) as parked:
        complete(hourly, one.staged.folder, TIMEOUT, one.name, _now_us() + 60_000_000)
    assert timedelta(seconds=30) < parked.value.timeout < timedelta(seconds=61)
    hourly.run(validate=False)  # another run publishes
    assert complete(hourly, one.staged.folder, TIMEOUT, one.name, until_us) == {}


def test_time_that_is_over_and_a_no_are_said_in_words(hourly: Hourly) -> None:
    one = held(hourly)
    for event, says in (
        (TIMEOUT, "nobody answered within 4h"),
        (answered("Keep it held", "no strike"), "ann said 'Keep it held': no strike"),
    ):
        with pytest.raises(KeptHeldError, match=says) as kept:
            complete(hourly, one.staged.folder, event, one.name, _now_us() - 1)
        assert isinstance(kept.value, AirflowFailException)
        assert kept.value.kept == (one.name, str(kept.value))


def test_a_yes_is_the_approval(hourly: Hourly) -> None:
    one = held(hourly)
    said = complete(hourly, one.staged.folder, answered("Publish", "a strike"), one.name, _now_us() + HOUR_US)
    assert said == {"verdict": one.name, "by": "ann", "reason": "a strike"}


def test_the_facts_of_a_question_are_of_nothing_published(hourly: Hourly) -> None:
    bound = bind(hourly.pipeline, hourly.root)
    facts = unpublished(bound, [Interval(instant_us(hour(0), "a"), instant_us(hour(1), "b"))], [*held(hourly).reports.values()], link="x")
    assert (facts.failed, facts.failure, len(facts.quality)) == (True, None, 1)


def test_each_line_of_the_question_is_an_item_and_data_is_no_markup(hourly: Hourly) -> None:
    one = held(hourly)
    rows = [row("ann`<b>`", -1), row("| bob |", -2)]
    bad: Mapping[str, Any] = report(check(failing_rows=rows), window="hour")
    made = replace(one, reports={"hour": bad})
    lines = question(made, (), instant_us(hour(9), "until")).splitlines()
    items = [line.strip() for line in lines if line.strip().startswith("-")]
    assert [line.strip("-` ").split("  ")[0] for line in items] == [
        "window 'hour' failed",
        "critical: expect_column_values_to_be_between(total): 1 row",
        "who",
        "ann`<b>`",
        "| bob |",
    ]
    assert items[3].startswith("- `` ann`<b>`")
    assert items[3].endswith("-1 ``")
    assert "no answer until 2024-01-01T09:00 UTC" in lines[-1]
    hidden = question(made, ["who"], 0)
    assert "ann" not in hidden
    assert "***" in hidden
