"""Files by local date over the days on which clocks change: the command line reads borders by the clock of the schedule."""

import json
from pathlib import Path

import pytest

from muntin import read
from muntin.cli.place import load_pipeline
from tests.cli.conftest import Muntin, Project

pytestmark = pytest.mark.usefixtures("here")

DEFINITION = '''
"""Counts of a shop by the days of Berlin."""
from datetime import datetime
from zoneinfo import ZoneInfo

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

shop = Pipeline(
    name="shop",
    source=sources.files("{folder}/{{start:%Y-%m-%d}}.csv", event_time=sources.at("at", timezone="Europe/Berlin", ambiguous="first")),
    schedule="@daily",
    timezone="Europe/Berlin",
    start=datetime(2024, 3, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    windows={{"day": windows.tumbling("1d", timezone="Europe/Berlin")}},
    aggregates={{"n": agg.count()}},
)
'''
SPRING, AUTUMN = ("2024-03-30", "2024-03-31", "2024-04-01"), ("2024-10-26", "2024-10-27", "2024-10-28")


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A row in each hour that the clock shows, and one just before midnight."""
    project = Project(tmp_path)
    Path(project.file).write_text(DEFINITION.format(folder=tmp_path), encoding="utf-8")
    for day in (*SPRING, *AUTUMN):
        hours = [hour for hour in range(24) if (day, hour) != ("2024-03-31", 2)]
        rows = [f"{day} {hour:02}:30:00" for hour in hours] + [f"{day} 23:59:59"]
        project.bring(day, "\n".join(["at", *rows]) + "\n")
    return project


@pytest.mark.parametrize(
    ("days", "end", "counts", "hours"),
    [(SPRING, "2024-04-02", [25, 24, 25], [24, 23, 24]), (AUTUMN, "2024-10-29", [25, 25, 25], [24, 25, 24])],
)
def test_a_file_a_local_day_over_a_change(
    muntin: Muntin, shop: Project, days: tuple[str, ...], end: str, counts: list[int], hours: list[int]
) -> None:
    planned = json.loads(muntin(*shop.arguments("plan", "--start", days[0], "--end", end, "--json")).out)
    assert [batch["reading"] for batch in planned["batches"]] == ["new"] * 3
    assert [Path(batch["files"][0]).stem for batch in planned["batches"]] == [*days]

    told = muntin(*shop.arguments("run", "--start", days[0], "--end", end))
    assert told.status == 0, told.err

    table = read(load_pipeline(Path(shop.file)), "day", root=shop.root).sort_by("window_start")
    lengths = [end - start for start, end in zip(table["window_start"].to_pylist(), table["window_end"].to_pylist(), strict=True)]
    assert table["n"].to_pylist() == counts
    assert [length.total_seconds() / 3600 for length in lengths] == hours
    again = json.loads(muntin(*shop.arguments("plan", "--start", days[0], "--end", end, "--json")).out)
    assert [batch["reading"] for batch in again["batches"]] == ["unchanged"] * 3


# a state by days of UTC has nothing of days of Berlin
def test_another_zone_begins_a_new_state(muntin: Muntin, shop: Project) -> None:
    whole = ("--start", "2024-03-30", "--end", "2024-04-02")
    assert muntin(*shop.arguments("run", *whole)).status == 0
    text = Path(shop.file).read_text(encoding="utf-8")
    Path(shop.file).write_text(text.replace('    timezone="Europe/Berlin",\n', "", 1), encoding="utf-8")
    planned = muntin(*shop.arguments("plan", *whole))
    assert "the definition is not that of the last run" in planned.out
    assert "schedule: \"'0 0 * * *' in Europe/Berlin\" is now \"'0 0 * * *'\"" in planned.out


def test_a_border_may_say_its_offset(muntin: Muntin, shop: Project) -> None:
    told = muntin(*shop.arguments("plan", "--start", "2024-03-30T23:00Z", "--end", "2024-04-01T00:00+02:00", "--json"))
    assert [Path(batch["files"][0]).stem for batch in json.loads(told.out)["batches"]] == ["2024-03-31"]


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("2024-03-31T02:30", "never shows 2024-03-31T02:30, as it is put forward; write 2024-03-31T03:30+02:00"),
        ("2024-10-27T02:00", "shows 2024-10-27T02:00 twice; write 2024-10-27T02:00+02:00 or 2024-10-27T02:00+01:00"),
        ("2024-03-31T01:00", "take 2024-03-30T23:00 (2024-03-31T00:00+01:00 in Europe/Berlin) or 2024-03-31T22:00 (2024-04-01T00:00+02:00"),
    ],
)
def test_a_time_that_is_no_border(muntin: Muntin, shop: Project, start: str, says: str) -> None:
    told = muntin(*shop.arguments("run", "--start", start, "--end", "2024-11-01"))
    assert told.status == 2
    assert says in told.err


# what a message says to type is read by the clock again, and means the same day
def test_the_command_of_a_message_means_the_same_batch(muntin: Muntin, shop: Project) -> None:
    assert muntin(*shop.arguments("run", "--start", "2024-03-31", "--end", "2024-04-02")).status == 0
    (shop.folder / "2024-03-31.csv").unlink()
    told = muntin(*shop.arguments("run", "--start", "2024-03-31", "--end", "2024-04-02"))
    assert "--start 2024-03-31T00:00+01:00 --end 2024-04-01T00:00+02:00 --allow-missing" in told.err
    words = ["--start", "2024-03-31T00:00+01:00", "--end", "2024-04-01T00:00+02:00", "--allow-missing"]
    assert muntin(*shop.arguments("run", *words)).status == 0
