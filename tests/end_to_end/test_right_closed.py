"""Windows that are closed at their right, from files to results: against pandas, at their borders, beside windows closed at their left."""

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from muntin import over, read, windows
from muntin.definition.frame_sets import frame_sets
from muntin.errors import DefinitionError
from muntin.jobs.inspect.explain import explain
from muntin.states.columns import INSTANT
from tests.end_to_end.hourly import START, Hourly, hour, times

BOTH = {"hour": windows.tumbling("1h", closed="right"), "left": windows.tumbling("1h")}


# hours       0:00        1:00        2:00
# windows     (           ](          ](
# batch 0     |  30                               the hour's last instant is the first of the next batch
# batch 1     |           60  90
# batch 2     |                       120
def test_an_event_at_the_end_belongs_and_closes_with_the_batch_that_knows_of_it(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": BOTH})
    for name, minutes in {"00": (0, 30), "01": (60, 90), "02": (120,)}.items():
        case.write(f"{name}.parquet", {"at": times(*minutes)})
    case.run(0, 2)
    told = case.rows("window_start", "window_end", "n", "batch")
    assert told == [(hour(-1), hour(0), 1, hour(0)), (hour(0), hour(1), 2, hour(1)), (hour(1), hour(2), 2, hour(2))]
    left = read(case.pipeline, "left", root=case.root)
    assert list(zip(left["window_start"].to_pylist(), left["n"].to_pylist(), strict=True)) == [(hour(0), 2), (hour(1), 2), (hour(2), 1)]


def test_one_window_holds_a_border(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": BOTH})
    case.write("00.parquet", {"at": times(30, 60)})
    case.write("01.parquet", {"at": times(61)})
    case.run(0, 1)
    held = explain(case.pipeline, "hour", root=case.root, at=hour(1)).windows
    assert [(each.window["window_start"], sum(part.rows for part in each.parts)) for each in held] == [(hour(0), 2)]


def test_a_replaced_batch_changes_the_windows_over_its_events(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"windows": BOTH})
    for name, minute in {"00": 30, "01": 90, "02": 150, "03": 210}.items():
        case.write(f"{name}.parquet", {"at": times(minute)})
    case.run(0, 3)
    case.write("01.parquet", {"at": times(60, 90, 120)})
    case.run(1, 1)
    assert case.rows("window_end", "n") == [(hour(1), 2), (hour(2), 2), (hour(3), 1)]


def test_frames_begin_a_microsecond_behind_borders_and_are_shared() -> None:
    other: dict[str, Any] = {
        "quarter": windows.tumbling("15m", closed="right"),
        "hours": windows.sliding("6h", step="1h", closed="right"),
        "day": windows.tumbling("1d", timezone="America/New_York", closed="right"),
        "left": windows.tumbling("1h"),
        "visit": windows.session("7m"),
    }
    found = {frames.table: frames.windows for frames in frame_sets(Hourly(Path(), other={"windows": other}).pipeline)}
    assert found == {"frames/15m_at_1us": ("quarter", "hours", "day"), "frames/5m": ("visit", "left")}
    days = {"day": other["day"], "week": windows.tumbling("1w", timezone="America/New_York", closed="right")}
    [frames] = frame_sets(Hourly(Path(), other={"windows": days}).pipeline)
    assert [(cut % 3_600_000_000, cut // 3_600_000_000) for cut in frames.cuts_us] == [(1, 4), (1, 5)]


def test_ranges_meet_the_borders_of_frames(tmp_path: Path) -> None:
    """A range is `[start, end)`, whatever the windows are."""
    case, behind = Hourly(tmp_path, other={"windows": {"hour": BOTH["hour"]}}), timedelta(microseconds=1)
    case.write("00.parquet", {"at": times(0, 30)})
    case.write("01.parquet", {"at": times(60, 90)})
    case.run(0, 1)
    assert over(case.pipeline, hour(0) + behind, hour(1) + behind, root=case.root)["n"].to_pylist() == [2]
    with pytest.raises(DefinitionError, match=r"00:00:00\.000001"):
        over(case.pipeline, hour(0), hour(1), root=case.root)


@pytest.mark.parametrize("dense", [False, True])
def test_pandas_says_the_same(tmp_path: Path, *, dense: bool) -> None:
    dice = random.Random(3)
    at = sorted(START + timedelta(minutes=dice.randrange(0, 240, 5)) for _ in range(12))
    case = Hourly(tmp_path, other={"windows": {"hour": windows.tumbling("20m", align_to="00:10", closed="right", dense=dense)}})
    for number in range(5):
        case.write(f"{number:02d}.parquet", {"at": pa.array([each for each in at if hour(number) <= each < hour(number + 1)], INSTANT)})
    case.run(0, 4)
    for label, column in (("left", "window_start"), ("right", "window_end")):
        found = pd.Series(1, index=pd.DatetimeIndex(at)).resample("20min", closed="right", label=label, origin=origin()).count()
        wanted = {when.to_pydatetime(): n for when, n in found.items() if dense or n}
        assert dict(case.rows(column, "n")) == wanted


def origin() -> datetime:
    return START + timedelta(minutes=10)


def test_another_word_is_refused() -> None:
    for build in (windows.tumbling, lambda size, **more: windows.sliding(size, step=size, **more)):
        with pytest.raises(DefinitionError, match='"left" for windows'):
            build("1h", closed="both")
