"""Sentences of the pages about the corners of windows, each beside what a run gives."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin import as_of, read, windows
from muntin.aggregates import theta_sets
from tests.catalogue.aggregates import ROWS
from tests.catalogue.columns import fixed
from tests.end_to_end.hourly import HOUR, START, Hourly, hour, times

DOCS = Path(__file__).parents[2] / "docs"
EMPTY = (
    "counts, `rate()` and `funnel` are 0, `retention` is all false, lists and maps are empty, a histogram has zeros, "
    "and everything else is null"
)
ZERO = ("count", "count_if", "min_count", "max_count", "count_distinct", "approx_count_distinct", "active_periods", "funnel")
NOTHING_IN_IT = ("collect", "collect_sorted", "collect_distinct", "to_map", "count_by", "approx_top_k", "by", "elementwise")
OF_NOTHING: dict[str, Any] = {**dict.fromkeys(ZERO, 0), **{name: [] for name in NOTHING_IN_IT}, "retention": [False] * 3}
ASKED = [row for row in ROWS if row.name not in ("apply", "own", "merge")]


def says(page: str, sentence: str) -> None:
    assert sentence in " ".join((DOCS / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", ["windows/README.md", "lookups.md", "aggregates.md"])
def test_pages_say_what_a_window_without_events_is(page: str) -> None:
    says(page, EMPTY)


def test_a_window_without_events_is_what_the_pages_say(tmp_path: Path) -> None:
    """Hours 0 and 2 have events, hour 1 has none: by `read`, and by `as_of`."""
    names = {f"a_{at}": row for at, row in enumerate(ASKED)}
    case = Hourly(
        tmp_path,
        "{start:%H}.parquet",
        source={"missing": "empty"},
        other={"keys": ["k"], "aggregates": {name: row.made() for name, row in names.items()}},
    )
    for at in (0, 2):
        rows = [fixed(place) | {"at": hour(at), "k": "a"} for place in range(3)]
        table = pa.Table.from_pylist(rows)
        case.write(f"{at:02}.parquet", dict(zip(table.column_names, table.columns, strict=True)))
    case.run(0, 2)
    [empty] = [row for row in read(case.pipeline, "hour", root=case.root, dense=True).to_pylist() if row["window_start"] == hour(1)]
    asked = pa.table({"k": ["a"], "t": pa.array([hour(2)], pa.timestamp("us", "UTC"))})
    [then] = as_of(case.pipeline, "hour", asked, at="t", root=case.root, known="ended").to_pylist()
    assert then["window_start"] == hour(1)
    for name, row in names.items():
        wanted = [0] * (row.call.count(",") - 1) if row.name == "histogram" else OF_NOTHING.get(row.name)
        wanted = 0 if row.call == "rate()" else wanted
        for found in (empty[name], then[name]):
            assert (theta_sets.estimate(found) == 0) if row.name == "theta" else found == wanted, row.call


# index      1: minutes 5, 50    2: minutes 10, 20, which came later
# at 0:59    both are known, and the second is the answer
def test_windows_by_arrival_follow_their_index(tmp_path: Path) -> None:
    says("lookups.md", "of windows by arrival the one with the highest `window_index`, whatever the times in it")
    other = {"windows": {"two": windows.arrival(windows.by_count(2))}, "aggregates": {"last": agg.max("x")}, "keys": ["k"]}
    case = Hourly(tmp_path, "{start:%H}.parquet", other=other)
    case.write("00.parquet", {"at": times(5, 50, 10, 20), "k": ["a"] * 4, "x": [1, 2, 3, 4]})
    case.run()
    asked = pa.table({"k": ["a", "a"], "t": pa.array([hour(0.5), hour(0.99)], pa.timestamp("us", "UTC"))})
    answer = as_of(case.pipeline, "two", asked, at="t", root=case.root, known="ended")
    assert answer["last"].to_pylist() == [4, 4]


# batch     0          1        at     -1           0.5         1.5
# n         2          -        ended  0, empty     0, empty    2
#                               closed null         null        2
def test_what_is_known_before_the_first_batch(tmp_path: Path) -> None:
    says(
        "lookups.md",
        'With `known="ended"` every published batch is known at any instant: a window of a grid is there before the first batch',
    )
    case = Hourly(tmp_path, "{start:%H}.parquet", source={"missing": "empty"}, other={"keys": ["k"]})
    case.write("00.parquet", {"at": times(5, 50), "k": ["a"] * 2})
    case.run(0, 1)
    asked = pa.table({"k": ["a"] * 3, "t": pa.array([hour(-1), hour(0.5), hour(1.5)], pa.timestamp("us", "UTC"))})
    ended, closed = (as_of(case.pipeline, "hour", asked, at="t", root=case.root, known=known) for known in ("ended", "closed"))  # type: ignore[arg-type]
    assert (ended["n"].to_pylist(), closed["n"].to_pylist()) == ([0, 0, 2], [None, None, 2])
    assert ended["window_end"].to_pylist() == [hour(-1), hour(0), hour(1)]


def test_the_last_interval_of_a_histogram_holds_its_upper_edge(tmp_path: Path) -> None:
    says("aggregates.md", "how many values of `x` lie in each `[edge, next edge)`; the last holds its upper edge, too")
    case = Hourly(tmp_path, "{start:%H}.parquet", other={"aggregates": {"h": agg.histogram("x", [0, 5, 10])}})
    case.write("00.parquet", {"at": times(1, 2, 3, 4, 5), "x": [-1.0, 0.0, 5.0, 10.0, 10.5]})
    case.run()
    assert case.rows("h") == [([1, 2],)]


# (0:00, 1:00]           1:00: 7        (1:00, 2:00]         1:30: 1
# last                   7              mean                 (7 + 1) / 2
def test_a_value_at_the_end_of_a_window_closed_at_its_right_holds_no_time(tmp_path: Path) -> None:
    says("windows/lasting.md", "a value at the very end is its last value, and holds no time")
    aggregates = {
        "last": agg.last("x", carry="1d"),
        "mean": agg.time_weighted_mean("x", carry="1d"),
        "work": agg.integral("x", carry="1d"),
        "spent": agg.time_in_state("x", carry="1d"),
    }
    case = Hourly(
        tmp_path,
        "{start:%H}.parquet",
        source={"missing": "empty"},
        other={"windows": {"hour": windows.tumbling("1h", closed="right")}, "aggregates": aggregates},
    )
    case.write("01.parquet", {"at": [START + HOUR, START + 1.5 * HOUR], "x": [7.0, 1.0]})
    case.run(0, 2)
    assert case.rows("last", "mean", "work", "spent") == [(7.0, None, None, None), (1.0, 4.0, 14_400.0, [(1.0, 1800.0), (7.0, 1800.0)])]


@pytest.mark.parametrize(("gap", "days"), [("INTERVAL 1 MONTH", 30), ("'1 month 2 days'", 32), ("INTERVAL 1 YEAR", 360)])
def test_months_of_a_gap_have_thirty_days(tmp_path: Path, gap: str, days: int) -> None:
    says("windows/session.md", "In an INTERVAL a day is 24 hours, a month 30 days and a year 360, whatever the calendar says.")
    case = Hourly(tmp_path, "{start:%H}.parquet", other={"windows": {"cart": windows.session("1h", gap_by=gap)}})
    case.write("00.parquet", {"at": times(5)})
    case.run()
    [row] = read(case.pipeline, "cart", root=case.root, provisional=True).to_pylist()
    assert row["window_end"] - row["window_start"] == timedelta(days=days)


# minute      0: enter       50: enter    70: leave         within an hour
# Flink                      [50          70]
# here        [0         cut 60)
def test_a_window_that_is_cut_is_not_tried_again(tmp_path: Path) -> None:
    says("windows/between.md", 'not the same: `max_length="1d"` cuts the window and says so, and a row in it opens no other')
    stay = windows.between("kind = 'enter'", "kind = 'leave'", max_length="1h")
    case = Hourly(tmp_path, "{start:%H}.parquet", source={"missing": "empty"}, other={"windows": {"stay": stay}})
    case.write("00.parquet", {"at": times(0, 50, 70), "kind": ["enter", "enter", "leave"]})
    case.run(0, 3)
    found = read(case.pipeline, "stay", root=case.root, provisional=True).to_pylist()
    assert [(row["window_start"], row["window_end"], row["n"], row["cut"]) for row in found] == [(START, START + HOUR, 2, True)]
    assert datetime(2024, 1, 1, tzinfo=UTC) == START
