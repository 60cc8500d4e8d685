"""Fault 7: a crash after a publication, before its asset event. The next run emits the event: each publication is told at least once.

batch      0        1 (crash)    2
published  x        x            x
told       0                     1, 2
"""

from pathlib import Path

import pytest

from muntin import windows
from muntin.extensions.airflow.assets import announcements
from tests.end_to_end.hourly import Hourly, times
from tests.faults.steps_of_a_run import Steps


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    made = Hourly(tmp_path, other={"windows": {"hour": windows.tumbling("1h"), "half": windows.tumbling("30m")}})
    for at in range(12):
        made.write(f"{at:02d}.parquet", {"at": times(60 * at + 1)})
    return Steps(made)


def test_the_next_run_tells_what_a_crash_left_unreported(steps: Steps) -> None:
    assert steps.run(0) == {"hour": [0], "half": [0]}
    steps.publish(1)
    assert steps.run(2) == {"hour": [1, 2], "half": [1, 2]}
    assert steps.run(3) == {"hour": [3], "half": [3]}


def test_so_does_a_run_that_publishes_nothing(steps: Steps) -> None:
    steps.run(0)
    steps.publish(1)
    assert steps.run(1) == {"hour": [1], "half": [1]}
    assert steps.run(1) == {}


def test_the_first_run_of_all_may_crash(steps: Steps) -> None:
    steps.publish(0)
    assert steps.run(1) == {"hour": [0, 1], "half": [0, 1]}


def test_a_crash_between_two_windows(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    from muntin.jobs.publish import publish

    steps.run(0)
    commit = publish._publish

    def crashing(bound, folder, staged, *rest):
        if staged.window == "half":
            raise RuntimeError("the process is gone")
        return commit(bound, folder, staged, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(publish, "_publish", crashing)
        with pytest.raises(RuntimeError):
            steps.publish(1)
    assert steps.run(1) == {"hour": [1], "half": [1]}


def test_what_was_published_before_anything_was_told_is_no_news(steps: Steps) -> None:
    """As by `muntin run` before the DAG ran for the first time."""
    steps.hourly.run(0, 1)
    assert steps.run(2) == {"hour": [2], "half": [2]}
    steps.hourly.run(3, 4)
    assert steps.run(5) == {"hour": [3, 4, 5], "half": [3, 4, 5]}


def test_runs_may_be_acknowledged_in_any_order(steps: Steps) -> None:
    from muntin.extensions.airflow.assets import events

    steps.run(0)
    first, second = steps.publish(1), steps.publish(2)
    events.acknowledge(*second)
    events.acknowledge(*first)
    assert steps.run(3) == {"hour": [3], "half": [3]}


def test_segments_that_were_put_together_hide_nothing(steps: Steps) -> None:
    """A ledger puts eight small segments together; those of the batches before may be told once more."""
    steps.run(0)
    for at in range(1, 11):
        steps.publish(at)
    assert {*steps.run(11)["hour"]} >= {*range(1, 12)}


@pytest.mark.parametrize("text", ["", "[]", '{"hour": 1}', '{"hour": {"table": "x"}}'])
def test_a_damaged_note_stops_nothing(text: str, steps: Steps) -> None:
    steps.run(0)
    Path(steps.place(0).bound.folder, announcements.NOTE).write_text(text)
    assert steps.run(1)["hour"] == [1]
