"""Rows of Airflow's database as attempts: which phase, which step, which batch, where its log is. No Airflow is needed for it."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.definition.instants import instant_us
from muntin.extensions.airflow.page_runs import attempt_of, step_in
from tests.end_to_end.hourly import hour

MINUTE = timedelta(minutes=1)
STEPS = ("accumulate", "finalize", "validate", "publish")
ASKING = (*STEPS[:-1], "ask", STEPS[-1])


def run(state: str, **other: Any) -> Any:
    facts = {
        "dag_id": "shop",
        "run_id": "manual+1",
        "state": state,
        "conf": None,
        "queued_at": hour(1),
        "start_date": hour(1) + MINUTE,
        "end_date": None,
    }
    return SimpleNamespace(**facts | {"data_interval_start": hour(0), "data_interval_end": hour(1)} | other)


def tasks(*states: str | None) -> dict[str, Any]:
    """The tasks in order; each begins ten minutes after the one before, and takes five."""
    begins = [hour(1) + 10 * (at + 1) * MINUTE for at in range(len(states))]
    return {
        name: SimpleNamespace(task_id=name, state=state, start_date=begin, end_date=begin + 5 * MINUTE)
        for name, state, begin in zip(STEPS if len(states) == len(STEPS) else ASKING, states, begins, strict=True)
    }


@pytest.mark.parametrize(
    ("state", "of_tasks", "phase", "step", "at"),
    [
        ("queued", (None, None, None, None), "queued", "accumulate", hour(1) + 10 * MINUTE),
        ("running", ("running", None, None, None), "running", "accumulate", hour(1) + 10 * MINUTE),
        ("running", ("success", "up_for_retry", None, None), "running", "finalize", hour(1) + 20 * MINUTE),
        ("running", ("success", "queued", None, None), "queued", "finalize", hour(1) + 20 * MINUTE),  # its next task waits for a worker
        ("failed", ("success", "failed", "upstream_failed", "upstream_failed"), "failed", "finalize", hour(1) + 25 * MINUTE),
        ("failed", ("success", "success", None, None), "failed", "validate", hour(1) + 35 * MINUTE),  # it was marked, or took too long
        # with the task that asks a person
        ("running", ("success", "success", "success", "awaiting_input", None), "queued", "ask", hour(1) + 40 * MINUTE),
        ("running", ("success", "success", "success", "success", "running"), "running", "publish", hour(1) + 50 * MINUTE),
        ("failed", ("success", "success", "success", "failed", "upstream_failed"), "failed", "ask", hour(1) + 45 * MINUTE),
    ],
)
def test_the_phase_and_the_step(state: str, of_tasks: tuple[str | None, ...], phase: str, step: str, at: datetime) -> None:
    found = attempt_of(run(state), tasks(*of_tasks), "http://airflow")
    assert (found.phase, found.step, found.at_us) == (phase, step, instant_us(at, "at"))
    assert found.link == f"http://airflow/dags/shop/runs/manual%2B1/tasks/{step}"


@pytest.mark.parametrize(
    ("task_id", "step"),
    [("accumulate", "accumulate"), ("shop.publish", "publish"), ("arrived", "arrived"), ("other.publish", "other.publish")],
)
def test_a_dag_of_the_user_s_has_the_steps_in_a_group_of_the_pipeline_s_name(task_id: str, step: str) -> None:
    assert step_in(task_id, "shop") == step


def test_the_log_of_a_task_in_a_group_is_found_by_its_whole_name() -> None:
    grouped = {
        name: SimpleNamespace(**vars(task) | {"task_id": f"shop.{name}"}) for name, task in tasks("failed", None, None, None).items()
    }
    assert attempt_of(run("failed"), grouped, "http://airflow").link == "http://airflow/dags/shop/runs/manual%2B1/tasks/shop.accumulate"


def test_a_run_without_tasks_links_to_itself() -> None:
    found = attempt_of(run("queued", start_date=None), {}, "")
    assert (found.link, found.began_us) == ("/dags/shop/runs/manual%2B1", instant_us(hour(1), "queued"))


@pytest.mark.parametrize(
    ("other", "spans"),
    [
        ({}, [(0, 1)]),
        ({"conf": {"interval_start": hour(5).isoformat(), "interval_end": hour(6).isoformat()}}, [(5, 6)]),
        ({"conf": {"interval_start": hour(5).isoformat()}}, []),  # our note of the run says where it ends
        ({"data_interval_start": hour(3), "data_interval_end": hour(3)}, []),
        ({"data_interval_start": None, "data_interval_end": None}, []),
    ],
)
def test_the_batch(other: dict[str, Any], spans: list[tuple[int, int]]) -> None:
    found = attempt_of(run("failed", **other), tasks("failed", None, None, None), "")
    assert found.spans == tuple((instant_us(hour(first), "start"), instant_us(hour(end), "end")) for first, end in spans)
