"""A schedule on the clock of a time zone: its intervals, the paths of its batches, and what cannot be."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import from_us, instant_us
from muntin.definition.pipeline import at_home
from muntin.definition.schedule import schedule_of
from muntin.errors import DefinitionError
from muntin.jobs.state.definition_note import described, differences
from muntin.jobs.state.fingerprint import fingerprint

BERLIN, HOUR_US = "Europe/Berlin", 3_600_000_000


def us(text: str, zone: str = BERLIN, fold: int = 0) -> int:
    """An instant by the clock of a zone."""
    return instant_us(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold), "instant")


def pipeline(path: str = "{start:%Y-%m-%d}.csv", **changes: Any) -> Pipeline:
    plain: dict[str, Any] = {
        "name": "local",
        "source": sources.files(path, event_time="at"),
        "schedule": "@daily",
        "start": datetime(2024, 1, 1, tzinfo=UTC),
        "windows": {"day": windows.tumbling("1d", timezone=BERLIN)},
        "aggregates": {"n": agg.count()},
        "timezone": BERLIN,
    }
    return Pipeline(**(plain | changes))


# hours of the intervals, the first of which begins at the given local time
@pytest.mark.parametrize(
    ("cron", "zone", "first", "hours"),
    [
        ("@daily", BERLIN, "2024-03-30", [24, 23, 24]),
        ("@daily", BERLIN, "2024-10-26", [24, 25, 24]),
        ("0 6 * * *", BERLIN, "2024-03-30T06:00", [23, 24]),
        ("0 6 * * *", BERLIN, "2024-10-26T06:00", [25, 24]),
        ("0 0 * * 1", "America/New_York", "2024-03-04", [167, 168]),
        ("@hourly", BERLIN, "2024-10-27T01:00", [1, 1, 1, 1]),  # 1:00, 2:00, 2:00 again, 3:00
        ("@hourly", BERLIN, "2024-03-31T01:00", [1, 1]),  # 1:00, 3:00, 4:00
        ("0 */2 * * *", BERLIN, "2024-10-27T00:00", [3, 2]),  # the second 2:00
        ("30 2 * * *", BERLIN, "2024-03-30T02:30", [24, 23]),  # 3:30 where no clock shows 2:30
        ("30 2 * * *", BERLIN, "2024-10-26T02:30", [25, 24]),  # the second 2:30
        ("@daily", "Africa/Cairo", "2024-04-25", [24, 23]),  # midnight is left out: the day begins at 1:00
        ("@daily", "Australia/Lord_Howe", "2024-10-06", [23.5, 24]),
        ("@daily", "Pacific/Apia", "2011-12-28", [24, 24, 24]),  # the 30th was left out; it stands for the 31st
        ("@daily", "Asia/Kolkata", "2024-03-30", [24, 24]),
        ("@daily", "Etc/UTC", "2024-03-30", [24, 24]),
    ],
)
def test_intervals_have_the_hours_that_the_clock_gives_them(cron: str, zone: str, first: str, hours: list[float]) -> None:
    start_us = us(first, zone)
    borders = [start_us + round(sum(hours[:count]) * HOUR_US) for count in range(len(hours) + 1)]
    schedule = schedule_of(cron, start_us, zone)
    found = schedule.intervals(borders[0], borders[-1])
    assert [each.start_us for each in found] == borders[:-1]
    assert [each.end_us for each in found] == borders[1:]
    for each in found:
        inside = each.start_us + 1, (each.start_us + each.end_us) // 2, each.end_us - 1
        assert [schedule.around(at) for at in (each.start_us, *inside)] == [each] * 4


# rows of a schedule of every quarter of an hour are apart in the hour that comes twice
def test_a_schedule_of_every_hour_goes_on_through_both_changes() -> None:
    for day in ("2024-03-31", "2024-10-27"):
        low, high = us(day), us(day + "T06:00")
        found = schedule_of("*/15 * * * *", low, BERLIN).intervals(low, high)
        assert {each.end_us - each.start_us for each in found} == {HOUR_US // 4}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("{start:%Y-%m-%d}", ["2024-03-30", "2024-03-31", "2024-04-01"]),
        ("{start:%m-%dT%H%z}", ["03-30T00+0100", "03-31T00+0100", "04-01T00+0200"]),
        ("{start_utc:%Y-%m-%dT%H}", ["2024-03-29T23", "2024-03-30T23", "2024-03-31T22"]),
        ("{end:%d}_{end_utc:%dT%H}", ["31_30T23", "01_31T22", "02_01T22"]),
    ],
)
def test_paths_are_by_the_clock_or_in_utc_as_the_template_says(path: str, names: list[str]) -> None:
    made = pipeline(f"{path}.csv")
    days = made.intervals.intervals(us("2024-03-30"), us("2024-04-02"))
    assert [made.source.patterns(day) for day in days] == [f"{name}.csv" for name in names]
    several = pipeline(source={name: sources.files(f"{name}/{path}.csv", event_time="at") for name in ("a", "b")})
    assert [several.sources["b"].patterns(day) for day in days] == [f"b/{name}.csv" for name in names]
    assert at_home(several, "/home").sources["b"].patterns(days[0]) == f"/home/b/{names[0]}.csv"
    assert several.only("b").source.patterns(days[0]) == f"b/{names[0]}.csv"


def test_a_source_is_on_the_clock_of_its_pipeline_alone() -> None:
    source, day = sources.files("{start:%dT%H}.csv", event_time="at"), schedule_of("@daily", 0).around(0)
    local, plain = pipeline(source=source), pipeline(source=source, timezone="UTC")
    assert [each.source.patterns(day) for each in (local, plain, replace(local, timezone="UTC"))] == ["01T01.csv", "01T00.csv", "01T00.csv"]


# names that come again every day or month are taken: somebody replaces the files
@pytest.mark.parametrize(("path", "schedule"), [("{start:%H}", "0 */12 * * *"), ("{start:%d}", "@daily")])
@pytest.mark.parametrize("timezone", ["UTC", BERLIN])
def test_names_that_come_again_are_taken(path: str, schedule: str, timezone: str) -> None:
    assert pipeline(f"{path}.csv", schedule=schedule, timezone=timezone).source.path == f"{path}.csv"


@pytest.mark.parametrize("path", ["{start:%Y-%m-%dT%H}", "{end:%H}", "{start:%Y-%m-%dT%H%M}"])
def test_a_template_that_gives_two_hours_one_path_is_refused(path: str) -> None:
    says = r"batches \[.*would both read .*clock of Europe/Berlin is set back .* write \{start_utc:...\}, or .*%z"
    with pytest.raises(DefinitionError, match=says):
        pipeline(f"{path}.csv", schedule="@hourly")
    for apart in ("{start_utc:%Y-%m-%dT%H}", "{start:%Y-%m-%dT%H%z}"):
        assert pipeline(f"{apart}.csv", schedule="@hourly").source.patterns(schedule_of("@hourly", 0).around(0))
    assert pipeline(f"{path}.csv", schedule="@hourly", timezone="Asia/Kolkata").timezone == "Asia/Kolkata"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"schedule": "1d"}, r"steps of 1d are of one length.*schedule=\"0 6 \* \* \*\""),
        ({"schedule": "90m", "timezone": "Etc/UTC"}, "steps of 90m"),
        ({"timezone": "Europe/Berln"}, "'Europe/Berln' is not a time zone; .* did you mean 'Europe/Berlin'"),
        ({"timezone": None}, "None is not a time zone"),
        ({"timezone": ""}, "'' is not a time zone"),
        ({"schedule": "0 6 * * 9"}, "not a cron string"),
    ],
)
def test_what_cannot_be(changes: Any, says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        pipeline(**changes)


def test_a_pipeline_over_windows_has_the_zone_of_its_upstream() -> None:
    upstream = pipeline()
    over: dict[str, Any] = {"source": sources.windows(upstream, "day"), "aggregates": {"n": agg.sum("n")}}
    assert pipeline(name="over", **over).intervals == upstream.intervals
    with pytest.raises(DefinitionError, match=r"'0 0 \* \* \*' is not that of 'local', '0 0 \* \* \*' in Europe/Berlin"):
        pipeline(name="over", timezone="UTC", **over)
    with pytest.raises(DefinitionError, match="in Europe/Vienna is not that of"):
        pipeline(name="over", timezone="Europe/Vienna", **over)


def test_another_zone_is_another_definition() -> None:
    made = {zone: pipeline(timezone=zone) for zone in ("UTC", "Etc/UTC", BERLIN, "America/New_York")}
    assert len({fingerprint(each) for each in made.values()}) == 4
    assert fingerprint(replace(made[BERLIN], timezone="UTC")) == fingerprint(made["UTC"])
    told = differences(described(made["UTC"]), described(made[BERLIN]))
    assert told == ["schedule: \"'0 0 * * *'\" is now \"'0 0 * * *' in Europe/Berlin\""]


# as it was before pipelines had zones: a state of then is found again
def test_the_fingerprint_of_a_pipeline_in_utc_stays() -> None:
    assert fingerprint(pipeline(timezone="UTC", windows={"day": windows.tumbling("1d")})) == "ffc47fbd0c77"


def test_a_border_that_is_none_is_told_by_both_clocks() -> None:
    schedule = pipeline().intervals
    says = r"start 2024-03-31 \(2024-03-31T01:00\+01:00 in Europe/Berlin\) is not .* or 2024-03-31T22:00 \(2024-04-01T00:00\+02:00 in"
    with pytest.raises(DefinitionError, match=says):
        schedule.intervals(instant_us(datetime(2024, 3, 31, tzinfo=UTC), "start"), us("2024-04-02"))


@pytest.mark.parametrize(
    ("zone", "words"),
    [("UTC", "--start 2024-03-31T22:00 --end 2024-04-01"), (BERLIN, "--start 2024-04-01T00:00+02:00 --end 2024-04-01T02:00+02:00")],
)
def test_what_a_message_says_to_type_is_the_instant_that_it_means(zone: str, words: str) -> None:
    low, high = us("2024-04-01"), us("2024-04-01T02:00")
    assert pipeline(timezone=zone).intervals.options(low, high) == words
    assert from_us(low).isoformat() == "2024-03-31T22:00:00+00:00"
