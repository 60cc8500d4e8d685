"""Fault 31: an event that is late for all its windows. A backfill of another batch leaves it out; a longer grace lets it in.

interval   [0h, 1h)   [1h, 2h)   [2h, 3h)
events     0:05       0:30 late
window     0h: 1      0h: 1      grace of 2h: 0h: 2
"""

from dataclasses import replace
from pathlib import Path

import pytest

from muntin import read, windows
from muntin.jobs.inspect.late import late
from tests.end_to_end.hourly import Hourly, times


@pytest.fixture
def case(tmp_path: Path) -> Hourly:
    made = Hourly(tmp_path)
    for at, minutes in enumerate([(5,), (30, 65), (125,)]):
        made.write(f"0{at}.parquet", {"at": times(*minutes)})
    made.run(0, 2)
    return made


def test_it_is_counted_and_kept(case: Hourly) -> None:
    assert [(each.batch, each.late) for each in late(case.pipeline, root=case.root)] == [(times(60)[0], 1)]
    assert case.rows("n") == [(1,), (1,), (1,)]


def test_another_batch_that_runs_again_leaves_it_out(case: Hourly) -> None:
    case.write("00.parquet", {"at": times(5, 6)})
    case.run(0)
    assert case.rows("n") == [(2,), (1,), (1,)]


# the state has the row: what the source had may be gone
def test_a_longer_grace_lets_it_in(case: Hourly) -> None:
    longer = replace(case, other={"windows": {"hour": windows.tumbling("1h", grace="2h")}})
    for at in range(3):
        (case.folder / f"data/0{at}.parquet").unlink()
    for at in (3, 4):
        case.write(f"0{at}.parquet", {"at": times(60 * at + 1)})
    longer.run(3, 4)
    found = read(longer.pipeline, "hour", root=case.root)
    assert found["n"].to_pylist()[:3] == [2, 1, 1]
    clean = Hourly(case.folder / "clean", other=longer.other)
    for at, minutes in enumerate([(5,), (30, 65), (125,), (181,), (241,)]):
        clean.write(f"0{at}.parquet", {"at": times(*minutes)})
    clean.run(0, 4)
    assert found.equals(read(clean.pipeline, "hour", root=clean.root))
