"""Fault 37: the definition changes while a run is going, or between retries. The run is of the definition that its first task had."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.extensions.airflow import publishing, steps
from tests.end_to_end.hourly import Hourly, times
from tests.faults.steps_of_a_run import HERE, Steps, session

OTHER_STATE = {"aggregates": {"n": agg.count(), "most": agg.max("v")}}
OTHER_WINDOW = {"windows": {"hour": windows.tumbling("1h", grace="2h")}}


@pytest.fixture
def run(tmp_path: Path) -> Steps:
    made = Hourly(tmp_path)
    made.write("00.parquet", {"at": times(1), "v": [1]})
    return Steps(made)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (OTHER_STATE, "the task accumulate wrote the state [0-9a-f]{12}, and this task would use"),
        (OTHER_WINDOW, "'hour' is another window"),
    ],
)
@pytest.mark.parametrize("changed_before", ["finalize", "validate", "publish"])
def test_a_later_task_refuses_another_definition(change: dict[str, Any], words: str, changed_before: str, run: Steps) -> None:
    first, then = run.place(0), run.place(0, replace(run.hourly.pipeline, **change))
    accumulated = steps.accumulate(first, HERE)
    staged = steps.finalize(first, HERE, accumulated)
    tasks: dict[str, Callable[[], Any]] = {
        "finalize": lambda: steps.finalize(then, HERE, accumulated),
        "validate": lambda: steps.validate(then, session, staged),
        "publish": lambda: publishing.publish(then, staged, accumulated, [], session),
    }
    with pytest.raises(DefinitionError, match=words) as told:
        tasks[changed_before]()
    assert "Clear the run from the task accumulate on" in str(told.value)
    assert run.hourly.rows("n") == []


def test_the_run_goes_on_when_the_definition_is_put_back(run: Steps) -> None:
    first, then = run.place(0), run.place(0, replace(run.hourly.pipeline, **OTHER_WINDOW))
    accumulated = steps.accumulate(first, HERE)
    with pytest.raises(DefinitionError):
        steps.finalize(then, HERE, accumulated)
    publishing.publish(first, steps.finalize(first, HERE, accumulated), accumulated, [], session)
    assert run.hourly.rows("n") == [(1,)]


def test_what_does_not_count_may_change(run: Steps) -> None:
    """A description, and a suite: to mend it is what one does when a check fails."""
    first, then = run.place(0), run.place(0, replace(run.hourly.pipeline, description="Readings", limits=Limits(max_quarantined=0.5)))
    accumulated = steps.accumulate(first, HERE)
    assert steps.finalize(then, HERE, accumulated)["folder"]
