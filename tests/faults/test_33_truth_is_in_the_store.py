"""Fault 33: runs that were marked as done by hand, paused or cancelled half way. `status` tells what the store holds.

batch       0    1                2      3                    4
run         x    marked as done   x      cancelled: its       x
                 by hand                 states were read
"""

from pathlib import Path

from muntin.extensions.airflow import steps
from muntin.jobs.inspect.status import status
from tests.end_to_end.hourly import Hourly, hour, times
from tests.faults.steps_of_a_run import HERE, Steps


def test_what_nobody_read_is_missing_whatever_airflow_says(tmp_path: Path) -> None:
    case = Hourly(tmp_path)
    for at in range(5):
        case.write(f"0{at}.parquet", {"at": times(60 * at + 1)})
    runs = Steps(case)
    runs.run(0)
    runs.run(2)
    cancelled = runs.place(3)
    steps.finalize(cancelled, HERE, steps.accumulate(cancelled, HERE))
    runs.run(4)
    found = status(case.pipeline, root=case.root)
    assert found.missing == ((hour(1), hour(2)),)
    assert found.waiting == (hour(2), hour(3), hour(4))
    assert [window.published_to for window in found.windows] == [hour(1)]
    assert runs.run(1) == {"hour": [1, 2, 3, 4]}
    found = status(case.pipeline, root=case.root)
    assert (found.missing, found.waiting) == ((), ())
