"""Sessions whose rows say their own gap, or end them, from files to results."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.inspect.late import quarantined
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, hour, times

OWN = windows.session("10m", gap_by="to_minutes(patience)")
ENDED = windows.session("20m", until="kind = 'logout'")


def hourly(folder: Path, window: Any, **more: Any) -> Hourly:
    return Hourly(folder, other={"windows": {"hour": window}, **more})


# minutes      0    5         15        25   30             50        60
# gaps         |--------------------------------]                           30 of the first row, which bridges
#                   |====]    |====]                                        5 and 5
#                                                           |---------|     null: ten, the gap of the definition
def test_the_longer_gap_bridges(tmp_path: Path) -> None:
    case = hourly(tmp_path, OWN)
    case.write("00.parquet", {"at": times(0, 5, 15, 50), "patience": [30, 5, 5, None]})
    case.write("02.parquet", {"at": times(150), "patience": [1]})
    case.write("01.parquet", {"at": times(61), "patience": [5]})
    case.run(0, 2)
    assert case.rows("window_start", "window_end", "n") == [
        (hour(0), hour(0.5), 3),
        (hour(50 / 60), hour(1), 1),
        (hour(61 / 60), hour(66 / 60), 1),
        (hour(2.5), hour(151 / 60), 1),
    ]


@pytest.mark.parametrize("patience", [[90, 1], [90.0, 1.0], [timedelta(seconds=90), timedelta(seconds=1)], ["90 seconds", "00:00:01"]])
def test_a_gap_is_a_number_of_seconds_or_an_interval(tmp_path: Path, patience: list[Any]) -> None:
    told = "patience" if not isinstance(patience[0], timedelta) else "to_microseconds(patience)"
    case = hourly(tmp_path, windows.session("10m", gap_by=told))
    plain = [each // timedelta(microseconds=1) if isinstance(each, timedelta) else each for each in patience]
    case.write("00.parquet", {"at": times(0, 5), "patience": plain})
    case.run()
    assert case.rows("window_start", "window_end") == [(hour(0), hour(1.5 / 60)), (hour(5 / 60), hour(5 / 60) + timedelta(seconds=1))]


def test_a_replaced_gap_joins_sessions_and_parts_them(tmp_path: Path) -> None:
    case = hourly(tmp_path, OWN)
    for name, minutes in {"00": (10, 40), "01": (70,), "02": (170,), "03": (230,)}.items():
        case.write(f"{name}.parquet", {"at": times(*minutes), "patience": [5] * len(minutes)})
    case.run(0, 3)
    before = case.rows("window_start", "window_end", "n")
    assert [n for *_, n in before] == [1] * 5
    case.write("00.parquet", {"at": times(10, 40), "patience": [5, 100]})
    case.run(0, 0)
    assert case.rows("window_start", "window_end", "n") == [before[0], (hour(40 / 60), hour(140 / 60), 2), *before[3:]]
    case.write("00.parquet", {"at": times(10, 40), "patience": [5, 5]})
    case.run(0, 0)
    assert case.rows("window_start", "window_end", "n") == before


def test_what_is_no_gap_goes_to_the_quarantine(tmp_path: Path) -> None:
    case = hourly(tmp_path, OWN)
    case.write("00.parquet", {"at": times(1, 2, 3, 30), "patience": [5, -5, 0, 5]})
    case.write("01.parquet", {"at": times(61), "patience": [5]})
    [first, _] = case.run(0, 1).batches
    assert (first.rows_accepted, first.rows_quarantined) == (2, 2)
    assert case.rows("window_start", "n") == [(hour(1 / 60), 1), (hour(0.5), 1), (hour(61 / 60), 1)]
    assert {"windows['hour']" in row["reason"] for row in quarantined(case.pipeline, root=case.root).to_pylist()} == {True}


@pytest.mark.parametrize(
    ("window", "told"),
    [
        (windows.session("10m", gap_by="kind = 'login'"), "needs a number of seconds"),
        (windows.session("10m", gap_by='"at"'), "needs a number of seconds"),
        (windows.session("10m", gap_by="waits"), "waits"),
        (windows.session("10m", until="kind"), "true or false"),
        (windows.session("10m", until="kin = 'logout'"), "kin"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused_before_rows_are_read(tmp_path: Path, window: Any, told: str) -> None:
    case = hourly(tmp_path, window)
    case.write("00.parquet", {"at": times(1), "patience": [5], "kind": ["login"]})
    with pytest.raises(DefinitionError, match=told):
        case.run()


# minutes      0     5      10       15      20
# batch 0      in    out             in                  the second out of minute 5 belongs to the session that ends there
#                    out
# batch 1                                                61 is a session of its own
def test_a_row_ends_its_session_with_all_rows_of_its_instant(tmp_path: Path) -> None:
    case = hourly(tmp_path, ENDED)
    case.write("00.parquet", {"at": times(0, 5, 5, 15), "kind": ["login", "logout", "logout", "login"]})
    case.write("01.parquet", {"at": times(61), "kind": ["logout"]})
    case.write("02.parquet", {"at": times(130), "kind": ["login"]})
    case.run(0, 2)
    assert case.rows("window_start", "window_end", "n", "ended") == [
        (hour(0), hour(5 / 60), 3, True),
        (hour(15 / 60), hour(35 / 60), 1, False),
        (hour(61 / 60), hour(61 / 60), 1, True),
        (hour(130 / 60), hour(2.5), 1, False),
    ]


# minutes      50      58    65    70
# batch 0      login         |     |                open when batch 0 ends
# batch 1              out   login out              a late logout splits it
def test_a_late_row_splits_an_open_session(tmp_path: Path) -> None:
    case = hourly(tmp_path, ENDED)
    case.write("00.parquet", {"at": times(50), "kind": ["login"]})
    case.write("01.parquet", {"at": times(58, 65, 70), "kind": ["logout", "login", "logout"]})
    case.run(0, 0)
    case.run(1, 1)
    told = [(hour(50 / 60), hour(58 / 60), 2, True), (hour(65 / 60), hour(70 / 60), 2, True)]
    assert case.rows("window_start", "window_end", "n", "ended") == told
    case.write("01.parquet", {"at": times(65, 70), "kind": ["login", "logout"]})
    case.run(1, 1)
    assert case.rows("window_start", "window_end", "n", "ended") == [(hour(50 / 60), hour(70 / 60), 3, True)]


def test_sessions_of_all_kinds_lie_beside_each_other(tmp_path: Path) -> None:
    several = {
        "own": OWN,
        "ended": ENDED,
        "plain": windows.session("10m"),
        "cut": windows.session("10m", max_length="1h"),
        "ever": windows.all_time(),
    }
    case = Hourly(tmp_path, other={"windows": several})
    case.write("00.parquet", {"at": times(0, 25), "patience": [30, 1], "kind": ["login", "logout"]})
    case.write("01.parquet", {"at": times(119), "patience": [1], "kind": ["login"]})
    case.run(0, 1)
    assert {name: read(case.pipeline, name, root=case.root)["n"].to_pylist() for name in ("own", "ended", "plain", "cut")} == {
        "own": [2],
        "ended": [1, 1],
        "plain": [1, 1],
        "cut": [1, 1],
    }


# ten minutes    0-10              10-20                   20-30
# windows of     login, logout     login                   login          at 0:10 two rows come, one of which ends the session
def test_states_of_rows_at_one_instant_are_merged_with_their_rules(tmp_path: Path) -> None:
    other = {"windows": {"ten": windows.tumbling("10m")}, "keys": ["kind"], "retain": Retain(states_in_windows=True)}
    above = Hourly(tmp_path, other=other)
    above.write("00.parquet", {"at": times(1, 2, 5, 15, 25), "kind": ["login", "logout", "logout", "login", "login"]})
    above.run()
    kinds = {"ended": ENDED, "own": windows.session("1m", gap_by="CASE kind WHEN 'login' THEN 600 ELSE 60 END")}
    below = Pipeline(
        name="below", source=sources.windows(above.pipeline, "ten"), schedule="1h", start=hour(0), windows=kinds,
        aggregates={"n": agg.merge("n")},
    )  # fmt: skip
    run(below, root=above.root, start=hour(0), end=hour(1), spark=Local(2))
    assert read(below, "ended", root=above.root).select(["n", "ended"]).to_pydict() == {"n": [3, 2], "ended": [True, False]}
    assert read(below, "own", root=above.root)["n"].to_pylist() == [5]
