"""Months, quarters, years, and cumulating windows where clocks change."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from muntin.testing.oracle import DAY, SECOND, Agg, Batch, Calendar, Cumulating, Tumbling, judge
from muntin.testing.oracle.kinds import micros

HOUR = 3600 * SECOND
NEW_YORK = "America/New_York"


def at(text: str, zone: str = "UTC") -> int:
    """A local instant in microseconds."""
    return micros(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)))


@pytest.mark.parametrize(
    ("months", "now", "start", "end"),
    [
        (1, "2024-02-29T23:59", "2024-02-01", "2024-03-01"),
        (1, "2024-02-01T00:00", "2024-02-01", "2024-03-01"),
        (1, "1969-12-31T23:59", "1969-12-01", "1970-01-01"),
        (2, "2024-02-29T23:59", "2024-01-01", "2024-03-01"),
        (3, "2024-03-31T23:59", "2024-01-01", "2024-04-01"),
        (3, "1969-11-05T00:00", "1969-10-01", "1970-01-01"),
        (12, "2024-12-31T23:59", "2024-01-01", "2025-01-01"),
        (24, "2025-06-01T00:00", "2024-01-01", "2026-01-01"),
        (5, "1970-06-01T00:00", "1970-06-01", "1970-11-01"),
    ],
)
def test_months_count_from_1970(months: int, now: str, start: str, end: str) -> None:
    assert list(Calendar(months).windows_for(at(now))) == [(at(start), at(end))]


# A month of New York: 31 days and an hour less in March, 30 days and an hour more in November.
@pytest.mark.parametrize(
    ("zone", "now", "start", "end", "hours"),
    [
        (NEW_YORK, "2024-03-20T12:00", "2024-03-01", "2024-04-01", 31 * 24 - 1),
        (NEW_YORK, "2024-11-20T12:00", "2024-11-01", "2024-12-01", 30 * 24 + 1),
        ("Asia/Kolkata", "2024-03-01T00:00", "2024-03-01", "2024-04-01", 31 * 24),
        # clocks go from 24:00 on 31 March 2011 to 01:00: the month begins at the first instant it has
        ("Asia/Amman", "2011-04-15T00:00", "2011-04-01T01:00", "2011-05-01", 30 * 24 - 1),
        # clocks show 00:30 twice on 1 November 2015: the month begins with the first
        ("America/Havana", "2015-11-15T00:00", "2015-11-01", "2015-12-01", 30 * 24 + 1),
    ],
)
def test_months_are_as_long_as_clocks_say(zone: str, now: str, start: str, end: str, hours: int) -> None:
    window = Calendar(1, timezone=zone)
    assert list(window.windows_for(at(now, zone))) == [(at(start, zone), at(end, zone))]
    assert at(end, zone) - at(start, zone) == hours * HOUR
    assert next(window.windows_for(at(start, zone) - 1))[1] == at(start, zone)
    assert next(window.windows_for(at(end, zone) - 1))[0] == at(start, zone)


# |2024-04-01 23:59            |2024-05-01 23:59
#           the first itself is last month's until a minute before its end
def test_a_clock_shifts_every_border() -> None:
    window = Calendar(1, align_to="23:59", timezone=NEW_YORK)
    march, april, may = (at(f"2024-0{n}-01T23:59", NEW_YORK) for n in (3, 4, 5))
    assert list(window.windows_for(april - 1)) == [(march, april)]
    assert list(window.windows_for(april)) == [(april, may)]


# The fiscal year begins in April, its quarters with it; May, two months later, begins a pair.
@pytest.mark.parametrize(
    ("months", "first", "now", "start", "end"),
    [
        (12, "2020-04-01", "2024-03-31T23:59", "2023-04-01", "2024-04-01"),
        (12, "2020-04-01", "1969-03-01", "1968-04-01", "1969-04-01"),
        (3, "2020-05-01", "2024-04-30", "2024-02-01", "2024-05-01"),
        (12, "2020-04-01T06:00", "2024-04-01T05:59", "2023-04-01T06:00", "2024-04-01T06:00"),
    ],
)
def test_a_first_of_a_month_shifts_the_phase(months: int, first: str, now: str, start: str, end: str) -> None:
    window = Calendar(months, align_to=datetime.fromisoformat(first).replace(tzinfo=ZoneInfo(NEW_YORK)), timezone=NEW_YORK)
    assert list(window.windows_for(at(now, NEW_YORK))) == [(at(start, NEW_YORK), at(end, NEW_YORK))]


def test_the_phase_is_a_month_of_the_zone() -> None:
    """Midnight in New York is five o'clock in London."""
    given = datetime(2024, 1, 1, 5, tzinfo=UTC)
    assert Calendar(12, align_to=given, timezone=NEW_YORK).phase % 12 == 0
    assert list(Calendar(1, align_to=given, timezone=NEW_YORK).windows_for(at("2024-02-10"))) == [
        (at("2024-02-01", NEW_YORK), at("2024-03-01", NEW_YORK))
    ]


# batch 0 ends with January; its last event waits for nothing, that of February is open.
def test_a_month_closes_with_the_batch_that_knows_its_end() -> None:
    times = [at("2024-01-31T23:59"), at("2024-02-01")]
    said = judge(Calendar(1), [Batch(at("2024-01-31"), at("2024-02-01"), [{"t": t} for t in times])], {"n": Agg("count")})
    assert [(row["window_end"], row["n"], row["batch"]) for row in said.published] == [(at("2024-02-01"), 1, 0)]
    assert [(row["window_start"], row["n"]) for row in said.still_open] == [(at("2024-02-01"), 1)]


# clocks   00:00     06:00      12:00      18:00      24:00       on the day they go forward the first step is five hours,
# hours    |----5----|----6-----|----6-----|----6-----|           on the day they go back seven
@pytest.mark.parametrize(("date", "first"), [("2024-03-10", 5), ("2024-11-03", 7)])
def test_short_steps_go_by_the_clock_too(date: str, first: int) -> None:
    window = Cumulating(DAY, 6 * HOUR, timezone=NEW_YORK)
    start = at(date, NEW_YORK)
    ends = [start + (first + n) * HOUR for n in (0, 6, 12, 18)]
    assert list(window.windows_for(start)) == [(start, end) for end in ends]
    assert list(window.windows_for(ends[-1] - 1)) == [(start, ends[-1])]


# An hour is an hour, also when clocks change: 23 or 25 of them, with 23 or 25 ends.
@pytest.mark.parametrize(("date", "hours"), [("2024-03-10", 23), ("2024-11-03", 25)])
@pytest.mark.parametrize("minute", [0, 59])
def test_steps_that_divide_the_change_go_on_through_it(date: str, hours: int, minute: int) -> None:
    start = at(date, NEW_YORK) + minute * 60 * SECOND
    window = Cumulating(DAY, HOUR, align_to=f"00:{minute:02d}", timezone=NEW_YORK)
    assert list(window.windows_for(start)) == [(start, start + n * HOUR) for n in range(1, hours + 1)]


# 02:30 on 10 March does not exist: the border is 03:00, when it would have come.
def test_a_border_that_clocks_skip_is_the_moment_of_the_change() -> None:
    window = Tumbling(DAY, align_to="02:30", timezone=NEW_YORK)
    start = at("2024-03-10T03:00", NEW_YORK)
    assert list(window.windows_for(start)) == [(start, at("2024-03-11T02:30", NEW_YORK))]
    assert next(window.windows_for(start - 1)) == (at("2024-03-09T02:30", NEW_YORK), start)


# Days to date of a week, from Monday on: seven local days, of which the last (10 March) has 23 hours.
def test_steps_of_days_are_local_days() -> None:
    window = Cumulating(7 * DAY, DAY, timezone=NEW_YORK)
    start = at("2024-03-04", NEW_YORK)
    ends = [at(f"2024-03-{day:02d}", NEW_YORK) for day in range(5, 12)]
    assert list(window.windows_for(start)) == [(start, end) for end in ends]


# Month to date by days, year to date by months.
def test_months_and_years_to_date() -> None:
    start = at("2024-02-01", NEW_YORK)
    days = [at(f"2024-02-{day:02d}", NEW_YORK) for day in range(2, 30)] + [at("2024-03-01", NEW_YORK)]
    assert list(Cumulating("1mo", DAY, timezone=NEW_YORK).windows_for(start)) == [(start, end) for end in days]
    assert list(Cumulating("1mo", DAY, timezone=NEW_YORK).windows_for(days[-2])) == [(start, days[-1])]
    year, months = at("2024-01-01"), [at(f"2024-{month:02d}-01") for month in range(11, 13)] + [at("2025-01-01")]
    assert list(Cumulating("12mo", "1mo").windows_for(at("2024-10-31"))) == [(year, end) for end in months]


# align_to 00:02, 12 minutes by 4: prefixes end at 06, 10, 14 past.
def test_prefixes_and_whole_windows_are_aligned_alike() -> None:
    window = Cumulating(720 * SECOND, 240 * SECOND, align_to="00:02")
    minutes = [(start // (60 * SECOND), end // (60 * SECOND)) for start, end in window.windows_for(3 * 60 * SECOND)]
    assert minutes == [(2, 6), (2, 10), (2, 14)]
