"""Batches of an hour over the hour that a clock shows twice, and over the hour that it leaves out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muntin import run, windows
from tests.end_to_end.hourly import Hourly

HOUR = timedelta(hours=1)


# a row in the middle of each hour of the day of Berlin, in a file that its local time names
@pytest.mark.parametrize(
    ("begin", "hours", "names"),
    [
        (datetime(2024, 10, 26, 22, tzinfo=UTC), 25, ["00+0200", "01+0200", "02+0200", "02+0100", "03+0100"]),
        (datetime(2024, 3, 30, 23, tzinfo=UTC), 23, ["00+0100", "01+0100", "03+0200"]),
    ],
)
@pytest.mark.parametrize("path", ["{start:%Y-%m-%dT%H%z}.parquet", "{start_utc:%Y-%m-%dT%H}.parquet"])
def test_each_hour_has_a_file_of_its_own(tmp_path: Path, path: str, begin: datetime, hours: int, names: list[str]) -> None:
    local = {"schedule": "@hourly", "timezone": "Europe/Berlin", "start": begin}
    made = Hourly(tmp_path, path, other=local | {"windows": {"hour": windows.tumbling("1d", timezone="Europe/Berlin")}})
    schedule = made.pipeline.intervals
    batches = schedule.intervals(schedule.first_us, schedule.first_us + hours * 3_600_000_000)
    found = [Path(made.pipeline.source.patterns(each)).name for each in batches]
    for at, name in enumerate(found):
        made.write(name, {"at": [begin + at * HOUR + HOUR / 2]})

    report = run(made.pipeline, root=made.root, start=begin, end=begin + hours * HOUR)

    assert [batch.rows_read for batch in report.batches] == [1] * hours
    assert made.rows("window_start", "window_end", "n") == [(begin, begin + hours * HOUR, hours)]
    if "%z" in path:
        assert [name[11:-8] for name in found[: len(names)]] == names
