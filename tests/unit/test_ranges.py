"""What `over` refuses of ranges, and the frames that answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.definition.frame_sets import frame_sets
from muntin.errors import DefinitionError
from muntin.jobs.lookups.asked_ranges import asked_ranges, frames_of_ranges

AT = datetime(2024, 1, 1, tzinfo=UTC)
THREE, HOUR, DAY = timedelta(seconds=3), timedelta(hours=1), timedelta(days=1)
BERLIN = timedelta(hours=-1)  # midnight of Berlin in winter
EACH: dict[str, Any] = {"moments": windows.tumbling("300ms"), "days": windows.tumbling("1d", timezone="Europe/Berlin")}


def pipeline(**kinds: Any) -> Pipeline:
    source = sources.files("{start}.parquet", event_time="t")
    return Pipeline(name="p", source=source, schedule="1h", start=AT, windows=kinds, aggregates={"n": agg.count()})


def ranges(*pairs: tuple[datetime, datetime]) -> pa.Table:
    return pa.table(
        {name: pa.array(each, pa.timestamp("us", "UTC")) for name, each in zip(("start", "end"), zip(*pairs, strict=True), strict=True)}
    )


HOURS = ranges((AT, AT + HOUR), (AT + HOUR, AT + DAY))


@pytest.mark.parametrize(
    "table",
    [
        HOURS,
        pd.DataFrame(HOURS.to_pandas()),
        pl.from_arrow(HOURS),
        HOURS.cast(pa.schema([(name, pa.timestamp("s", "Asia/Tokyo")) for name in ("start", "end")])),
    ],
    ids=["arrow", "pandas", "polars", "another zone"],
)
def test_whatever_speaks_arrow(table: Any) -> None:
    found = asked_ranges(table, None)
    assert ((found.high - found.low) // 3_600_000_000).tolist() == [1, 23]


def test_the_coarsest_frames_that_have_both_borders() -> None:
    flow = pipeline(**EACH)
    asked = ranges((AT + BERLIN, AT + BERLIN + DAY), (AT + BERLIN, AT + THREE), (AT + BERLIN + DAY, AT + BERLIN + 3 * DAY))
    found = frames_of_ranges(flow, frame_sets(flow), asked_ranges(asked, None))
    assert {frames.windows[0]: some.tolist() for frames, some in found} == {"moments": [1], "days": [0, 2]}


NANOSECOND = pa.table({name: pa.array([at], pa.timestamp("ns", "UTC")) for name, at in (("start", 0), ("end", 1))})

REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no end": (AT, None, "there is no end; give over(pipeline, start, end, ...)"),
    "no zone": (datetime(2024, 1, 1), AT, "start: datetime.datetime(2024, 1, 1, 0, 0) has no time zone"),  # noqa: DTZ001
    "no instant": ("2024-01-01", AT, "start: '2024-01-01' is not a datetime"),
    "empty": (AT, AT, "start 2024-01-01 is not before end 2024-01-01"),
    "an end beside a table": (HOURS, AT, "the table of ranges has their ends"),
    "no column": (HOURS.select(["start"]), None, "no column 'end'; it has start"),
    "a table without zone": (pa.table({"start": [datetime(2024, 1, 1)], "end": [AT]}), None, "start is timestamp[us]; it must be instants"),  # noqa: DTZ001
    "numbers": (pa.table({"start": [1], "end": [2]}), None, "start is int64"),
    "a null": (pa.concat_tables([HOURS, ranges((AT, None))]), None, "end is null in row 2 (from 0)"),  # type: ignore[arg-type]
    "a nanosecond": (NANOSECOND, None, "end has instants that are no whole microseconds"),
    "one of many": (ranges((AT, AT + HOUR), (AT, AT)), None, "range 1 (from 0): start 2024-01-01 is not before"),
}  # fmt: skip


@pytest.mark.parametrize(("start", "end", "words"), REFUSED.values(), ids=REFUSED)
def test_ranges_that_are_none(start: Any, end: Any, words: str) -> None:
    with pytest.raises(DefinitionError) as told:
        asked_ranges(start, end)
    assert words in str(told.value)


NO_BORDER: dict[str, tuple[dict[str, Any], pa.Table, str]] = {
    "start": (
        {"hour": windows.tumbling("1h")}, ranges((AT + THREE, AT + HOUR)),
        "over: start 2024-01-01T00:00:03 lies inside of a frame; the nearest borders are 2024-01-01 and 2024-01-01T01:00",
    ),
    "both": (
        {"hour": windows.tumbling("1h")}, ranges((AT - THREE, AT + THREE)),
        "are 2023-12-31T23:00 and 2024-01-01; end 2024-01-01T00:00:03 lies inside of a frame; the nearest borders are 2024-01-01 and",
    ),
    "of a zone": (
        {"day": windows.tumbling("1d", timezone="America/New_York")}, ranges((AT, AT + DAY)),
        "start 2024-01-01 lies inside of a frame; the nearest borders are 2023-12-31T05:00 and 2024-01-01T04:00",
    ),
    "one of many": ({"hour": windows.tumbling("1h")}, ranges((AT, AT + HOUR), (AT, AT + THREE)), "over: range 1 (from 0): end 2024-01-01"),
    "finest": (EACH, ranges((AT, AT + THREE / 4)), "00:00:00.900000 (the finest frames that there are, those of 'moments'"),
    "sessions": ({"visit": windows.session("1h")}, HOURS, "runs of events of sessions"),
    "rows": ({"rows": windows.arrival(windows.by_count(3))}, HOURS, "rows in the order of arrival"),
}  # fmt: skip


@pytest.mark.parametrize(("kinds", "asked", "words"), NO_BORDER.values(), ids=NO_BORDER)
def test_ranges_that_meet_no_border(kinds: dict[str, Any], asked: pa.Table, words: str) -> None:
    flow = pipeline(**kinds)
    with pytest.raises(DefinitionError) as told:
        frames_of_ranges(flow, frame_sets(flow), asked_ranges(asked, None))
    assert words in str(told.value)
