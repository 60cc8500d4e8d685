"""The task `validate` of Airflow: few windows are judged in the task, and no session begins; Spark judges what Spark alone can."""

import json
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.errors import ExpectationsError
from muntin.extensions.airflow import steps
from muntin.extensions.airflow.place import Place
from muntin.extensions.airflow.publishing import publish
from muntin.extensions.airflow.spark import LateRunner
from muntin.jobs.publish.held import held_in
from muntin.jobs.state.bound import bind
from muntin.quality.suite import SuiteError
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, hour

AT_LEAST_ONE = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "min_value": 1}}
NEVER = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "max_value": 1}}
BY_SPARK = {"type": "expect_column_values_to_be_of_type", "kwargs": {"column": "n", "type_": "LongType"}}


class Sessions(LateRunner):
    """Counts how often a session would begin, and gives this process."""

    def __init__(self) -> None:
        super().__init__(self._counted)
        self.begun = 0

    def _counted(self) -> Local:
        self.begun += 1
        return Local()


def staged(folder: Path, expectation: dict[str, Any], **more: Any) -> tuple[Place, dict[str, Any], dict[str, Any]]:
    """The staged windows of an hour, with a suite; and what the task accumulate told."""
    (folder / "suite.json").write_text(json.dumps({"name": "s", "expectations": [expectation]}))
    made = Hourly(folder, other={"expectations": {"hour": str(folder / "suite.json")}, **more})
    made.write("00.parquet", {"at": [hour(0.5)] * 3})
    place = Place(bind(made.pipeline, made.root, claim=True), Interval(instant_us(hour(0), "start"), instant_us(hour(1), "end")))
    accumulated = steps.accumulate(place, Local())
    return place, steps.finalize(place, Local(), accumulated), accumulated


@pytest.mark.parametrize(("most", "begun"), [(steps.FEW_ROWS, 0), (0, 1)])
def test_few_windows_need_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, begun: int) -> None:
    monkeypatch.setattr(steps, "FEW_ROWS", most)
    place, windows, _ = staged(tmp_path, AT_LEAST_ONE)
    sessions = Sessions()
    (report,) = steps.validate(place, sessions, windows)
    assert (report["status"], report["rows"], sessions.begun) == ("passed", 1, begun)


def test_where_a_person_is_asked_the_task_goes_on(tmp_path: Path) -> None:
    place, windows, _ = staged(tmp_path, NEVER, limits=Limits(ask_within="4h"))
    (report,) = steps.validate(place, Sessions(), windows)
    assert report["status"] == "failed"


def test_spark_judges_what_it_alone_can(tmp_path: Path) -> None:
    place, windows, _ = staged(tmp_path, BY_SPARK)
    sessions = Sessions()
    with pytest.raises(SuiteError, match="judged by Spark alone"):  # there is none here either
        steps.validate(place, sessions, windows)
    assert sessions.begun == 1


def test_a_task_that_is_tried_again_says_who_approved(tmp_path: Path) -> None:
    """The first try is killed once the windows are published, and before a report says so."""
    place, windows, accumulated = staged(tmp_path, NEVER)
    with pytest.raises(ExpectationsError):
        steps.validate(place, Sessions(), windows)
    found = held_in(place.bound, windows["folder"])
    assert found is not None
    answer = {"verdict": found.name, "by": "ann", "reason": "a strike"}
    told = [publish(place, windows, accumulated, [*found.reports.values()], Sessions(), answer=answer) for _ in range(2)]
    assert [one["published"] != {} for one in told] == [True, False]
    assert [one["report"]["despite"]["by"] for one in told] == ["ann", "ann"]
