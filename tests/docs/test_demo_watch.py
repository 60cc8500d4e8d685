"""What the demo says while it waits for Airflow: a component died, nothing moves, a run is lost."""

import pytest

from examples.demo.backfill import lost, progress
from examples.demo.failure import DemoError
from examples.demo.watch import Inspection, after, begun, deaths

# seconds    0   60   130    200   250    370        610
# progress   a   a    b      b     b      b          b      b moves at 130
# said                              120 s  240 s
INSPECTIONS = [(60, "a"), (130, "b"), (200, "b"), (250, "b"), (251, "b"), (369, "b"), (370, "b"), (729, "b")]
SAID = {250: "nothing has moved for 120 s (b)", 370: "nothing has moved for 240 s (b)", 729: "nothing has moved for 599 s (b)"}


def test_a_standstill_is_said_every_two_minutes_and_progress_ends_it():
    still, said = begun("a", 0), {}
    for at, seen in INSPECTIONS:
        still, due = after(still, Inspection(done=False, progress=seen), at)
        said |= {at: due} if due else {}
    assert said == SAID


def test_a_wait_ends_after_ten_minutes_without_progress():
    with pytest.raises(DemoError, match=r"given up: nothing has moved for 600 s \(b\)"):
        after(begun("b", 130), Inspection(done=False, progress="b"), 730)


def test_a_wait_goes_on_for_as_long_as_something_moves():
    still = begun("0", 0)
    for minute in range(1, 1000):
        still, due = after(still, Inspection(done=False, progress=str(minute)), minute * 60)
        assert due is None


def test_a_remark_is_no_progress_but_is_said():
    still, due = begun("a", 0), None
    for at, remark in ((50, "timed out"), (90, ""), (120, "HTTP Error 500")):
        still, due = after(still, Inspection(done=False, progress="a", remark=remark), at)
    assert due == "nothing has moved for 120 s (a; HTTP Error 500)"


@pytest.mark.parametrize(
    ("exit_codes", "sentence"),
    [
        ({"the scheduler": None, "the web server": None}, None),
        ({"the scheduler": 1, "the web server": None}, "the scheduler died (exit code 1)"),
        ({"the scheduler": 0, "the web server": None}, "the scheduler died (exit code 0)"),
        ({"the scheduler": -9, "the web server": None}, "the scheduler died (exit code -9, by SIGKILL)"),
        ({"the database": -11, "the scheduler": 1}, "the database died (exit code -11, by SIGSEGV), the scheduler died (exit code 1)"),
    ],
)
def test_every_component_that_died_is_named_with_its_exit_code(exit_codes: dict[str, int | None], sentence: str | None):
    assert deaths(exit_codes) == sentence


def run(day: int, state: str) -> dict[str, str]:
    return {"dag_run_id": f"backfill__{day}", "state": state, "logical_date": f"2013-01-{day:02d}T00:00:00Z"}


def task(day: int, name: str, state: str | None) -> dict[str, str | None]:
    return {"dag_run_id": f"backfill__{day}", "task_id": name, "state": state}


def test_a_run_that_counts_as_successful_without_a_task_is_lost():
    # day 1 worked, 2 was marked successful before it had tasks, 3 has not begun
    runs = [run(1, "success"), run(2, "success"), run(3, "queued")]
    assert lost(runs, [task(1, "accumulate", "success"), task(3, "accumulate", None)]) == ["backfill__2"]
    assert lost(runs, [task(1, "publish", "success"), task(2, "publish", "success")]) == []


def test_progress_counts_the_tasks_and_names_the_days_at_work():
    runs = [run(1, "success"), run(2, "running"), run(3, "queued")]
    tasks = [
        task(1, "accumulate", "success"),
        task(1, "publish", "success"),
        task(2, "accumulate", "success"),
        task(2, "publish", "running"),
    ]
    assert progress(runs, tasks, 3) == "accumulate 2/3  finalize 0/3  validate 0/3  publish 1/3  now 01-02"
