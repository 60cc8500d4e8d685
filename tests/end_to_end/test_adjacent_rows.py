"""Windows of adjacent rows by the public API: order of arrival where instants are equal, windows over them, and what reports say."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.windows.kind import Window
from tests.storage.three_batches import HERE

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def at(minute: float) -> datetime:
    return BEGIN + timedelta(minutes=minute)


def write(folder: Path, hour: int, rows: list[tuple[float, int, str]]) -> None:
    """Rows of one meter: minute, number by arrival, status."""
    folder.mkdir(exist_ok=True)
    minutes, numbers, states = zip(*rows, strict=True)
    columns = {"t": pa.array(map(at, minutes), pa.timestamp("us", tz="UTC")), "seq": numbers, "status": states, "meter": ["a"] * len(rows)}
    pq.write_table(pa.table(columns), folder / f"{hour:02d}.parquet")


def meters(folder: Path, window: Window, **more: Any) -> Pipeline:
    return Pipeline(
        name="meters",
        source=sources.files(str(folder / "{start:%H}.parquet"), event_time="t", arrival_order="seq"),
        schedule="1h",
        start=BEGIN,
        keys=["meter"],
        windows={"state": window},
        aggregates={"readings": agg.count(), "came": agg.collect("seq")},
        **more,
    )


def told(pipeline: Pipeline, root: Path, *columns: str) -> list[tuple[Any, ...]]:
    """Start and end in minutes, and some columns."""
    return [
        ((row["window_start"] - BEGIN).seconds / 60, (row["window_end"] - BEGIN).seconds / 60, *(row[name] for name in columns))
        for row in read(pipeline, *pipeline.windows, root=root).to_pylist()
    ]


# minute 10 thrice, by seq: on, off, on       a window for each, of which two begin at 10 and are numbered
def test_rows_of_one_instant_follow_each_other_by_their_column_of_arrival(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [(10, 3, "on"), (5, 1, "on"), (10, 2, "off"), (10, 4, "off"), (30, 5, "on")])
    flow = meters(tmp_path / "data", windows.while_same("status"))
    run(flow, root=tmp_path / "state", start=BEGIN, end=BEGIN + HOUR, spark=HERE)
    assert told(flow, tmp_path / "state", "status", "tie", "came") == [
        (5, 10, "on", 0, [1]),
        (10, 10, "off", 0, [2]),
        (10, 10, "on", 1, [3]),
        (10, 30, "off", 2, [4]),
    ]


# hour 0   5 on ... 50 off, 55 on           hour 1   10 late: decided up to 50     57 counts: behind it
def test_a_report_counts_the_rows_that_came_too_late(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [(5, 1, "on"), (50, 2, "off"), (55, 3, "on")])
    write(tmp_path / "data", 1, [(10, 4, "off"), (57, 5, "off"), (70, 6, "on")])
    flow = meters(tmp_path / "data", windows.while_("status = 'on'"))
    reports = run(flow, root=tmp_path / "state", start=BEGIN, end=BEGIN + 2 * HOUR, spark=HERE).batches
    assert [(report.rows_late, report.windows_closed) for report in reports] == [(0, {"state": 1}), (1, {"state": 1})]
    assert told(flow, tmp_path / "state", "came") == [(5, 50, [1]), (55, 57, [3])]


def test_windows_over_windows_lose_none_that_lasted_for_long(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [(5, 1, "on"), (10, 2, "off")])
    write(tmp_path / "data", 1, [(70, 3, "on")])
    write(tmp_path / "data", 2, [(170, 4, "off")])
    flow = meters(tmp_path / "data", windows.while_("status = 'on'"))
    over = Pipeline(
        name="over",
        source=sources.windows(flow, "state"),
        schedule="1h",
        start=BEGIN,
        windows={"hour": windows.tumbling("1h")},
        aggregates={"states": agg.count()},
    )
    for pipeline in (flow, over):
        reports = run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + 3 * HOUR, spark=HERE).batches
    assert [report.rows_late for report in reports] == [0, 0, 0]
    assert told(over, tmp_path / "state", "states") == [(0, 60, 1), (120, 180, 1)]


def test_a_value_may_not_have_the_name_of_a_key(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"keys: windows\['state'\] has a column 'meter' already"):
        meters(tmp_path, windows.while_same("meter"))
