"""A kind may leave instants out: an event there belongs to no window, is late for nothing, and breaks nothing."""

import random
from pathlib import Path

from muntin import read
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.status import status
from tests.case_counts import random_seeds
from tests.end_to_end.hourly import Hourly, hour, times
from tests.properties.kind_with_holes import Doors, doors, ours
from tests.properties.random_cases import Case, case_over
from tests.properties.test_against_oracle import disagreement
from tests.properties.test_any_history import first_mistake

MINUTE_US = 60_000_000


def case(seed: int) -> Case:
    dice = random.Random(f"doors {seed}")
    drawn = doors(dice)
    return case_over(dice, drawn, ours(drawn.theirs), seed)


def test_engine_and_oracle_agree() -> None:
    wrong = {seed: said for seed in random_seeds(1000) if (said := disagreement(case(seed)))}
    assert wrong == {}


def test_every_history_equals_a_clean_run() -> None:
    wrong = {seed: said for seed in random_seeds(300) if (said := first_mistake(case(seed)))}
    assert wrong == {}


# hours       0:00        1:00        2:00        3:00
# windows     [ open )    [ open )    [ open )
# on time        5   45      65               |            45 lies in no window
# too late       |                         10   50         10 is late for the first window, 50 for none
def test_published_windows_leave_out_what_lies_in_none(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": Doors(60 * MINUTE_US, 30 * MINUTE_US)}})
    for name, minutes in {"00": (5, 45), "01": (65,), "02": (10, 50, 135)}.items():
        case.write(f"{name}.parquet", {"at": times(*minutes)})
    reports = case.run(0, 2).batches
    assert [(each.rows_accepted, each.rows_late, each.windows_missed) for each in reports] == [
        (2, 0, {"hour": 0}),
        (1, 0, {"hour": 0}),
        (3, 1, {"hour": 1}),
    ]
    assert case.rows("window_start", "window_end", "n") == [(hour(at), hour(at + 0.5), 1) for at in range(3)]
    assert read(case.pipeline, "hour", root=case.root, dense=True).num_rows == 3
    [window] = status(case.pipeline, root=case.root).windows
    assert (window.rows_late, window.windows_missed) == (1, 1)
    assert explain(case.pipeline, "hour", root=case.root, at=times(45)[0]).windows == ()


# batch 1 comes again with another row at an instant that no window holds, batch 2 with two
def test_a_batch_that_changes_outside_of_all_windows(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": Doors(60 * MINUTE_US, 30 * MINUTE_US)}})
    for name, minute in {"00": 5, "01": 65, "02": 125}.items():
        case.write(f"{name}.parquet", {"at": times(minute)})
    case.run(0, 2)
    before = case.rows("window_start", "n")
    case.write("01.parquet", {"at": times(65, 95)})
    case.run(1, 1)
    case.write("02b.parquet", {"at": times(150, 155)})
    case.run(2, 2)
    assert case.rows("window_start", "n") == before
