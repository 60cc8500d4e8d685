"""An event of the first year is an event: its frame and its windows may begin before the year 1."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from muntin import read, windows
from tests.end_to_end.hourly import Hourly, times

FIRST = datetime(1, 1, 1, tzinfo=UTC)
KINDS = {
    "tumbling": windows.tumbling("7m"),
    "a week": windows.tumbling("1w"),
    "a long frame": windows.tumbling("10000d"),
    "a day elsewhere": windows.tumbling("1d", timezone="Asia/Kolkata"),
    "a month elsewhere": windows.tumbling("1mo", timezone="America/New_York"),
    "sliding": windows.sliding("2h", step="1h"),
    "cumulating": windows.cumulating("7h", step="1h"),
    "session": windows.session("20m"),
    "limited session": windows.session("20m", max_length="1h"),
    "unique sliding": windows.unique_sliding("10m"),
    "arrival": windows.arrival(windows.by_count(1)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_of_the_year_1_is_in_its_windows(kind: str, tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": KINDS[kind]}})
    case.write("00.parquet", {"at": [FIRST, *times(1)]})
    case.write("01.parquet", {"at": times(61)})
    assert [batch.rows_accepted for batch in case.run(0, 1).batches] == [2, 1]
    ends = read(case.pipeline, "hour", root=case.root)["window_end"].cast(pa.int64())
    assert pc.sum(pc.less(ends, 0)).as_py() >= 1
    assert not any(case.run(0, 1).published.values())
