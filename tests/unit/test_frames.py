"""Which frames there are: the naive lift of these tests against the SQL that ships, frame sets, alignment, widths."""

from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin.aggregates import count
from muntin.aggregates.aggregate import sealed
from muntin.aggregates.counting import shared_fields
from muntin.definition.durations import UNITS
from muntin.definition.frame_sets import FrameSet, frame_sets
from muntin.errors import DefinitionError
from muntin.sources.reading.lift import states as lift_sql
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.sql_types import stored
from muntin.windows.clock import alignment_us
from tests.properties.equal_values import alike
from tests.properties.laws.states import lifted
from tests.properties.naive_lift import AGGREGATES, FIELDS, SCHEMA, states
from tests.properties.random_cases import case

SECOND, MINUTE, DAY = UNITS["s"], UNITS["m"], UNITS["d"]
ROWS = pa.schema([("t", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
NEW_YORK = "America/New_York"
DAYS_OF_NEW_YORK = windows.tumbling("1d", timezone=NEW_YORK)
START = datetime(2024, 1, 1, tzinfo=UTC)


def pipeline(more: Any, aggregates: Any) -> Pipeline:
    source = sources.files("{start:%H}.parquet", event_time="t")
    return Pipeline(name="p", source=source, schedule="1h", start=START, keys=["k"], windows=more, aggregates=aggregates)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_naive_lift_is_the_sql(seed: int) -> None:
    given = case(seed)
    rows = [row for batch in given.batches for row in batch.rows]
    table = pa.Table.from_pylist(rows, ROWS)
    with duckdb.connect() as session:
        session.execute("SET threads = 1")
        session.register("given", table)
        numbered = "(SELECT *, t AS muntin_time, t AS muntin_order, row_number() OVER () AS muntin_ordinal FROM given)"
        frames = FrameSet(given.width, ("w",), event_times=True)
        flow = pipeline({"w": windows.tumbling(given.width)}, AGGREGATES)
        query = lift_sql(flow, shared_fields(AGGREGATES), frames, numbered, Taken(2**62), {})
        told = sealed(stored(session, f"FROM ({query}) ORDER BY k NULLS LAST, frame"), FIELDS.values())
        names, found = told.column_names, [tuple(row.values()) for row in told.to_pylist()]
    ours = states(rows, given.width)
    ints = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in ours.columns]
    wanted = pa.table(ints, SCHEMA.names).select(names).to_pylist()
    rest = names.index("moments_x_rest")  # what rounding took off the mean: too little for the naive one to know
    plain = [[value for at, value in enumerate(row) if at != rest] for row in (*found, *(tuple(row.values()) for row in wanted))]
    assert alike(plain[: len(found)], plain[len(found) :])


def test_rows_are_lifted_before_1970_too() -> None:
    flow, counted = pipeline({"w": windows.tumbling(10)}, {"n": count()}), shared_fields({"n": count()})
    sql = lift_sql(flow, counted, FrameSet(10, ("w",), event_times=False), "muntin_rows", Taken(100), {})
    rows = pa.table({"k": ["a"] * 5, "muntin_time": [-11, -10, -1, 0, 101]})
    found = lifted(rows, {"frames": f"(SELECT list(frame ORDER BY frame) FROM ({sql}))"})
    assert found["frames"][0].as_py() == [-20, -10, 0]


SETS = [
    ({"a": windows.tumbling("15m"), "b": windows.sliding("1h", step="5m")}, {"frames/5m": ("a", "b")}),
    ({"a": windows.tumbling("6m"), "b": windows.tumbling("4m")}, {"frames/4m": ("b",), "frames/6m": ("a",)}),
    ({"a": windows.tumbling("1h"), "s": windows.session("20m")}, {"frames/20m": ("a", "s")}),
    ({"a": windows.tumbling("1h"), "s": windows.session("25m")}, {"frames/20m": ("a", "s")}),
    ({"s": windows.session("25m")}, {"frames/25m_runs_25m": ("s",)}),
    ({"s": windows.session("25m"), "t": windows.session("50m")}, {"frames/25m_runs_25m": ("s", "t")}),
    ({"a": windows.tumbling("1d", timezone="Asia/Kathmandu")}, {"frames/1d_at_1095m_1110m": ("a",)}),  # UTC+5:45, once UTC+5:30
    ({"a": windows.tumbling("1d", timezone=NEW_YORK, align_to="23:59")}, {"frames/1d_at_239m_299m": ("a",)}),
    ({"d": DAYS_OF_NEW_YORK, "m": windows.tumbling("1mo", timezone=NEW_YORK)}, {"frames/1d_at_4h_5h": ("d", "m")}),
    ({"d": DAYS_OF_NEW_YORK, "w": windows.tumbling("1w", timezone=NEW_YORK)}, {"frames/1d_at_4h_5h": ("d", "w")}),
    ({"d": DAYS_OF_NEW_YORK, "c": windows.cumulating("1d", step="6h", timezone=NEW_YORK)}, {"frames/6h_at_4h_5h": ("c", "d")}),
    ({"d": DAYS_OF_NEW_YORK, "t": windows.trailing(3, timezone=NEW_YORK)}, {"frames/1d_at_4h_5h": ("d", "t")}),
    ({"d": DAYS_OF_NEW_YORK, "h": windows.tumbling("30m")}, {"frames/30m": ("d", "h")}),
    ({"d": DAYS_OF_NEW_YORK, "u": windows.tumbling("1d")}, {"frames/1h": ("d", "u")}),
    ({"d": DAYS_OF_NEW_YORK, "s": windows.session("2h")}, {"frames/1h": ("d", "s")}),
    ({"d": DAYS_OF_NEW_YORK, "b": windows.tumbling("1d", timezone="Europe/Berlin")}, {"frames/1h": ("b", "d")}),
    ({"h": windows.tumbling("1h", timezone=NEW_YORK)}, {"frames/1h": ("h",)}),
    ({"h": windows.tumbling("2h", timezone=NEW_YORK)}, {"frames/1h": ("h",)}),  # two borders in two hours are no fewer
    ({"b": windows.tumbling("1d", timezone="Asia/Kolkata")}, {"frames/1d_at_1110m": ("b",)}),
    ({"a": windows.sliding("10m", step="5m", align_to="00:02")}, {"frames/1m": ("a",)}),
]


@pytest.mark.parametrize(("asked", "sets"), SETS, ids="-".join)
def test_windows_share_frames_where_widths_divide(asked: Any, sets: dict[str, tuple[str, ...]]) -> None:
    found = frame_sets(pipeline(asked, {"n": count()}))
    assert {frames.table: tuple(sorted(frames.windows)) for frames in found} == sets
    assert [frames.event_times for frames in found] == ["s" in frames.windows for frames in found]


@pytest.mark.parametrize(("gap", "grid"), [(3, 5), (5, 3), (7, 7), (1, 60), (60, 1), (4, 6), (11, 12), (299, 300)])
def test_events_of_one_frame_are_of_one_session(gap: int, grid: int) -> None:
    width = windows.session(gap).frame_us(grid)
    assert 0 < width <= gap
    assert grid % width == 0 or width == gap


CLOCKS = [(None, 0), ("23:59", 1439 * MINUTE), ("7:00:01", 420 * MINUTE + SECOND)]
DAYS = [("thursday", 0), ("Monday", 4 * DAY), (START, 19_723 * DAY)]


@pytest.mark.parametrize(("align", "us"), CLOCKS + DAYS)
def test_alignment(align: Any, us: int) -> None:
    assert alignment_us(align) == us


def test_weeks_begin_on_the_day_that_was_said() -> None:
    [(start, end)] = windows.tumbling("1w", align_to="monday").windows_for(19_723 * DAY)
    assert (start, end) == (19_723 * DAY, 19_730 * DAY)  # 2024-01-01 was a Monday


@pytest.mark.parametrize("align", ["24:00", "noon", "", 5, datetime(2024, 1, 1), "12:60"])  # noqa: DTZ001 - naive on purpose
def test_no_alignment(align: Any) -> None:
    with pytest.raises(DefinitionError, match="align_to"):
        alignment_us(align)
