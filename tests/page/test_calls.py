"""What needs a person, and what does not: by table, over statuses made up for it."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muntin.definition.instants import instant_us
from muntin.definition.time_limits import Freshness
from muntin.extensions.page.installation import Place
from muntin.extensions.page.views.calls import Call, _of_batches, _of_silence, _of_unpublished, calls
from muntin.extensions.page.views.held import NOTHING, Around, Dead
from muntin.jobs.inspect.status import PipelineStatus, WindowStatus
from muntin.jobs.records.attempts import Attempt
from muntin.jobs.records.batch_states import BatchState, State
from muntin.jobs.records.batch_status import BatchStates
from muntin.jobs.sending.notes import SinkStanding
from tests.end_to_end.hourly import Hourly, hour

MINUTE = timedelta(minutes=1)


def us(moment: datetime) -> int:
    return instant_us(moment, "time")


def batch(at: int, state: State, **more: object) -> BatchState:
    return BatchState(us(hour(at)), us(hour(at + 1)), state, **more)  # type: ignore[arg-type]


def status(*told: BatchState, keeps_up: bool = True, fresh: Freshness | None = None) -> PipelineStatus:
    window = WindowStatus("hour", hour(0), hour(3), 1, 1, None, None, None, 0, 0, 0)
    states = BatchStates(listed=told, keeps_up=keeps_up, last=(us(hour(3)), us(hour(4))))
    return PipelineStatus("hourly", "0", 1, 0, (window,), (), (), (), None, states=states, fresh=fresh)


def known(folder: Path) -> Place:
    return Place("hourly", Path("state"), Hourly(folder).pipeline, Path("dags/hourly.py"))


def of_batches(at: Place, now: PipelineStatus, around: Around) -> list[Call]:
    assert at.pipeline
    return _of_batches(at, at.pipeline, now, around)


# batches of an hour; the last one [3, 4)
#   it kept up, and it is 4:30, 6:00            on time, the next is not due for two intervals: nobody is called
#   it kept up, and it is 6:01                  two intervals without a batch: somebody is
#   it works through the past                   nobody
#   a run is at work, or failed                 it is not silent
@pytest.mark.parametrize(
    ("told", "keeps_up", "now", "called"),
    [
        ((), True, hour(4.5), False),
        ((), True, hour(6), False),
        ((), True, hour(6) + MINUTE, True),
        ((), False, hour(29), False),
        ((batch(4, "running", step="finalize"),), True, hour(9), False),
        ((batch(4, "failed", step="finalize"),), True, hour(9), False),
    ],
)
def test_silence(tmp_path: Path, told: tuple[BatchState, ...], keeps_up: bool, now: datetime, called: bool) -> None:
    silence = _of_silence(known(tmp_path), status(*told, keeps_up=keeps_up), NOTHING, us(now))
    assert [call.what for call in silence] == (["no batch since 2024-01-01 03:00"] if called else [])


def test_silence_names_its_cause_where_airflow_knows_it(tmp_path: Path) -> None:
    paused = Around(paused=frozenset({"hourly"}), in_airflow=True)
    dead = Around(dead=(Dead("scheduler", us(hour(4))),), in_airflow=True)
    (by_pause,), (by_death,) = (_of_silence(known(tmp_path), status(), around, us(hour(9))) for around in (paused, dead))
    assert (by_pause.do, by_pause.command) == ("its DAG is paused", "airflow dags unpause hourly")
    assert "Airflow is not at work" in by_death.do


def test_batches_that_wait_for_a_hole_are_no_failure(tmp_path: Path) -> None:
    left = batch(2, "read", reason="the next run publishes it")
    behind = batch(3, "waiting", reason="an interval before it is missing")
    (call,) = _of_unpublished(known(tmp_path), status(left, behind), NOTHING)
    assert call.what == "1 batch read and not published"
    assert _of_unpublished(known(tmp_path), status(behind), NOTHING) == []


def test_what_failed_and_what_is_held_have_one_command_each(tmp_path: Path) -> None:
    failed = [batch(at, "failed", step="finalize", reason="OSError: full") for at in (1, 2)]
    held = batch(4, "held", step="validate", reason="hour: failed", checks=("critical: n",))
    first, second = of_batches(known(tmp_path), status(*failed, held), NOTHING)
    assert (first.what, first.more) == ("batch [2024-01-01 04:00, 2024-01-01 05:00) held by a verdict", ("hour: failed", "critical: n"))
    assert (second.what, second.more) == ("2 batches [2024-01-01 01:00, 2024-01-01 03:00) failed at finalize", ("OSError: full",))
    assert second.command == "muntin run dags/hourly.py --root state --start 2024-01-01T01:00 --end 2024-01-01T03:00"


# of a run that Airflow knows; an earlier step than the step that failed read nothing new
@pytest.mark.parametrize(
    ("state", "step", "clears"), [("failed", "finalize", "finalize"), ("held", "validate", "accumulate"), ("failed", "check", "accumulate")]
)
def test_in_airflow_the_run_is_cleared_from_the_step_on(tmp_path: Path, state: State, step: str, clears: str) -> None:
    one = batch(1, state, step=step, reason="why", link="http://airflow/dags/hourly/runs/a")
    (call,) = of_batches(known(tmp_path), status(one), Around(in_airflow=True))
    span = "--start-date 2024-01-01T01:00:00+00:00 --end-date 2024-01-01T01:00:00+00:00"
    assert call.command == f"airflow tasks clear hourly {span} --task-regex {clears} --downstream --yes"
    assert call.link == one.link


def test_a_run_by_hand_is_begun_anew_as_no_command_clears_it(tmp_path: Path) -> None:
    link = "http://airflow/dags/hourly/runs/manual__2024-01-01T09%3A00%3A00%2B00%3A00/tasks/validate"
    some = [batch(at, "held", step="validate", reason="why", link=link) for at in (1, 2)]
    (call,) = of_batches(known(tmp_path), status(some[0]), Around(in_airflow=True))
    assert call.command == """airflow dags trigger hourly --conf '{"interval_start": "2024-01-01T01:00:00+00:00"}'"""
    (call,) = of_batches(known(tmp_path), status(*some), Around(in_airflow=True))
    assert (call.command or "").startswith("airflow backfill create --dag-id hourly --from-date 2024-01-01T01:00:00+00:00")


# the failing windows are made of rows of
@pytest.mark.parametrize(
    ("culprits", "again", "cleared"),
    [
        ((3,), ("03", "04"), 'airflow dags trigger hourly --conf \'{"interval_start": "2024-01-01T03:00:00+00:00"}\''),
        ((4,), ("04", "05"), "airflow tasks clear hourly --start-date 2024-01-01T04:00:00+00:00 "),
        ((1, 3), ("01", "04"), "airflow backfill create --dag-id hourly --from-date 2024-01-01T01:00:00+00:00 "),
        ((), ("04", "05"), "airflow tasks clear hourly --start-date 2024-01-01T04:00:00+00:00 "),
    ],
)
def test_what_runs_again_are_the_batches_of_the_rows(
    tmp_path: Path, culprits: tuple[int, ...], again: tuple[str, str], cleared: str
) -> None:
    link = "http://airflow/dags/hourly/runs/scheduled__a"
    one = batch(4, "held", step="validate", reason="why", link=link, culprits=tuple(us(hour(at)) for at in culprits))
    (call,) = of_batches(known(tmp_path), status(one), NOTHING)
    assert call.what == "batch [2024-01-01 04:00, 2024-01-01 05:00) held by a verdict"
    said = f"[2024-01-01 {again[0]}:00, 2024-01-01 {again[1]}:00)" if culprits else "it"
    assert call.do.endswith(f"; then run {said} again")
    start, end = (f"2024-01-01T{each}:00" for each in again)
    assert call.command == f"muntin run dags/hourly.py --root state --start {start} --end {end}"
    (call,) = of_batches(known(tmp_path), status(one), Around(in_airflow=True))
    assert (call.command or "").startswith(cleared)


def test_where_a_question_waits_that_comes_first(tmp_path: Path) -> None:
    one = batch(1, "held", step="validate", reason="why", link="http://airflow/ask")
    run = Attempt("r", (), "queued", "ask", 0, 0, link="http://airflow/ask")
    (call,) = of_batches(known(tmp_path), status(one), Around({"hourly": (run,)}, in_airflow=True))
    assert call.do.startswith("a question waits in Airflow, under Required Actions: answer it; or correct")
    (call,) = of_batches(known(tmp_path), status(one), Around({"hourly": ()}, in_airflow=True))
    assert "question" not in call.do


@pytest.mark.parametrize(
    ("lag_us", "says"),
    [(None, "nothing is published"), (3 * 3_600_000_000, "an interval that ended 3 h ago is not published"), (7_200_000_000, None)],
)
def test_windows_that_are_not_fresh_call(tmp_path: Path, lag_us: int | None, says: str | None) -> None:
    at, now = known(tmp_path), status(fresh=Freshness(7_200_000_000, lag_us))
    assert [call.what for call in calls(at, at.pipeline, now, (), NOTHING, us(hour(4)))] == (
        [f"not fresh: {says}, the target is 2 h"] if says else []
    )


def test_a_sink_that_is_down_calls_with_its_reason(tmp_path: Path) -> None:
    down, behind = (
        SinkStanding("topic t at b:9092", "hour", 3, 2, None, "b:9092: refused"),
        SinkStanding("table t at w", "hour", 3, 2, None, ""),
    )
    at = known(tmp_path)
    (call,) = calls(at, at.pipeline, replace(status(), sinks=(down, behind)), (), NOTHING, us(hour(4)))
    assert call.what == "hour was not sent to topic t at b:9092: b:9092: refused"
    assert call.command == "muntin status --sinks dags/hourly.py --root state --send"
