"""Windows by the calendar, over events that a user gives to `windows_of`: local days, months from any day, halves, business days, holes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from muntin import Pipeline, as_of, read, sources, windows
from muntin import aggregates as agg
from muntin.testing import windows_of
from tests.end_to_end.hourly import Hourly, hour, times

BERLIN = ZoneInfo("Europe/Berlin")


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


def told(window: Any, events: list[str], days: int = 70) -> list[tuple[str, str, int]]:
    """Bounds of windows on Berlin's clock, and how many events each holds; batches are days from March 2024 on."""
    start = datetime(2024, 3, 1, tzinfo=UTC)
    pipeline = Pipeline(
        name="p", source=sources.files("{start:%Y-%m-%d}.csv", event_time="at"), schedule="@daily", start=start,
        windows={"it": window}, aggregates={"n": agg.count()},
    )  # fmt: skip
    at = [local(each) for each in events]
    batches = [[{"at": each} for each in at if start + timedelta(days=n) <= each < start + timedelta(days=n + 1)] for n in range(days)]
    rows = windows_of(pipeline, batches).to_pylist()
    return [(*(f"{row[name].astimezone(BERLIN):%m-%d %H:%M}" for name in ("window_start", "window_end")), row["n"]) for row in rows]


# clocks go forward on March 31: the window that ends on April 1 has 47 hours
def test_two_days_up_to_each_local_midnight() -> None:
    assert told(windows.trailing(days=2, timezone="Europe/Berlin"), ["2024-03-30T23:30", "2024-03-31T00:30"]) == [
        ("03-29 00:00", "03-31 00:00", 1),
        ("03-30 00:00", "04-01 00:00", 2),
        ("03-31 00:00", "04-02 00:00", 1),
    ]


def test_two_weeks_up_to_each_monday() -> None:
    window = windows.trailing(weeks=2, every="1w", timezone="Europe/Berlin")
    assert told(window, ["2024-03-13T12:00"]) == [("03-04 00:00", "03-18 00:00", 1), ("03-11 00:00", "03-25 00:00", 1)]


# 2024-03-11 is a Monday
def test_weeks_of_a_zone_begin_on_monday() -> None:
    events = ["2024-03-10T23:59", "2024-03-11T00:00", "2024-03-17T23:59"]
    week = [("03-04 00:00", "03-11 00:00", 1), ("03-11 00:00", "03-18 00:00", 2)]
    assert told(windows.tumbling("1w", timezone="Europe/Berlin"), events) == week
    assert told(windows.tumbling("7d", align_to="Monday", timezone="Europe/Berlin"), events) == week
    shift = windows.tumbling("1w", align_to="06:00", timezone="Europe/Berlin")
    assert told(shift, events) == [("03-04 06:00", "03-11 06:00", 2), ("03-11 06:00", "03-18 06:00", 1)]
    from_sunday = windows.tumbling("1w", align_to="sunday", timezone="Europe/Berlin")
    assert told(from_sunday, events) == [("03-10 00:00", "03-17 00:00", 2), ("03-17 00:00", "03-24 00:00", 1)]


def test_the_week_so_far_begins_on_monday_whatever_the_step() -> None:
    window = windows.cumulating("1w", step="84h", timezone="Europe/Berlin")
    assert told(window, ["2024-03-13T12:00"]) == [("03-11 00:00", "03-14 12:00", 1), ("03-11 00:00", "03-18 00:00", 1)]


def test_weeks_without_a_zone_count_from_1970_and_those_of_utc_from_a_monday() -> None:
    noon = datetime(2024, 3, 13, 12, tzinfo=UTC)
    starts = [windows.tumbling("1w", **more).windows_for(noon)[0][0] for more in ({}, {"timezone": "UTC"})]
    assert [f"{start:%A}" for start in starts] == ["Thursday", "Monday"]


def test_the_last_week_of_each_month() -> None:
    window = windows.trailing(days=7, every="1mo", timezone="Europe/Berlin")
    assert told(window, ["2024-03-24T23:59", "2024-03-25T00:00", "2024-03-31T23:59", "2024-04-10T00:00"]) == [
        ("03-25 00:00", "04-01 00:00", 2)
    ]


def test_months_that_begin_on_the_26th() -> None:
    window = windows.tumbling("1mo", align_to=local("2024-01-26"), timezone="Europe/Berlin")
    events = ["2024-03-25T23:59", "2024-03-26T00:00", "2024-04-25T23:59", "2024-04-26T00:00"]
    assert told(window, events) == [("02-26 00:00", "03-26 00:00", 1), ("03-26 00:00", "04-26 00:00", 2)]


def test_half_months() -> None:
    events = ["2024-03-15T23:59", "2024-03-16T00:00", "2024-03-31T23:59", "2024-04-01T00:00"]
    assert told(windows.tumbling("1sm", timezone="Europe/Berlin"), events) == [
        ("03-01 00:00", "03-16 00:00", 1),
        ("03-16 00:00", "04-01 00:00", 2),
        ("04-01 00:00", "04-16 00:00", 1),
    ]


# Friday March 1, Saturday, Sunday, Monday March 4
def test_business_days_leave_out_weekends() -> None:
    events = ["2024-03-01T10:00", "2024-03-02T10:00", "2024-03-03T23:59", "2024-03-04T00:00"]
    assert told(windows.tumbling("1bd", timezone="Europe/Berlin"), events) == [
        ("03-01 00:00", "03-02 00:00", 1),
        ("03-04 00:00", "03-05 00:00", 1),
    ]


# minutes      0     10          30    40          60
# windows      [-----)           [-----)           [-----)
# events          5      20         35        50      65
def test_samples_on_disk(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": windows.sliding("10m", step="30m", gaps=True)}})
    for name, minutes in {"00": (5, 20, 50), "01": (65, 35), "02": (130,)}.items():
        case.write(f"{name}.parquet", {"at": times(*minutes)})
    reports = case.run(0, 2).batches
    assert [(each.rows_accepted, each.rows_late) for each in reports] == [(3, 0), (2, 1), (1, 0)]
    assert case.rows("window_start", "window_end", "n") == [(hour(at), hour(at + 1 / 6), 1) for at in (0, 1)]
    dense = read(case.pipeline, "hour", root=case.root, dense=True)
    assert dense["window_start"].to_pylist() == [hour(0), hour(0.5), hour(1)]
    asked = as_of(case.pipeline, "hour", pa.table({"seen": times(75, 125)}), at="seen", root=case.root, known="ended")
    assert asked["window_start"].to_pylist() == [hour(1), hour(1.5)]
    assert asked["n"].to_pylist() == [1, 0]
