"""Empty windows on reading: the grid between a key's first and last window, counts 0 and all else null."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from tests.storage.three_batches import HERE

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, Path]:
    """a at 0:00, 3:30 and 5:10, b at 2:00; the last batch leaves the sixth hour open."""
    folder = tmp_path_factory.mktemp("dense")
    came = [("a", 0), ("a", 210), ("a", 310), ("b", 120)]
    times = pa.array([BEGIN + timedelta(minutes=minute) for _, minute in came], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "k": [key for key, _ in came], "v": [1, 2, 3, 4]}), folder / "00.parquet")
    nothing = pa.table({"t": times[:0], "k": pa.array([], pa.string()), "v": pa.array([], pa.int64())})
    for number in range(1, 5):
        pq.write_table(nothing, folder / f"{number:02d}.parquet")
    pipeline = Pipeline(
        name="p", source=sources.files(str(folder / "{start:%H}.parquet"), event_time="t"), schedule="1h", start=BEGIN, keys=["k"],
        windows={
            "hour": windows.tumbling("1h"), "filled": windows.tumbling("1h", dense=True), "wide": windows.sliding("2h", step="1h"),
            "trail": windows.trailing(hours=2), "right": windows.sliding("2h", step="1h", closed="right"),
            "late": windows.trailing(hours=1, every="2h"), "sofar": windows.cumulating("4h", step="1h"), "visit": windows.session("5m"),
        },
        aggregates={"n": agg.count(), "sum": agg.sum("v"), "mean": agg.mean("v"), "last": agg.last("v"), "list": agg.collect("v")},
    )  # fmt: skip
    run(pipeline, root=folder / "state", start=BEGIN, end=BEGIN + timedelta(hours=5), spark=HERE)
    return pipeline, folder / "state"


def shown(done: tuple[Pipeline, Path], window: str, **more: Any) -> list[tuple[str, int, int, int]]:
    rows = read(done[0], window, root=done[1], **more).to_pylist()
    return [(row["k"], hour(row["window_start"]), hour(row["window_end"]), row["n"]) for row in rows]


def hour(at: datetime) -> int:
    return round((at - BEGIN) / timedelta(hours=1))


# a: 0 - - 3 - 5   b: 2
def test_tumbling(done: tuple[Pipeline, Path]) -> None:
    assert shown(done, "hour") == [("a", 0, 1, 1), ("a", 3, 4, 1), ("b", 2, 3, 1)]
    full = [("a", 0, 1, 1), ("a", 1, 2, 0), ("a", 2, 3, 0), ("a", 3, 4, 1), ("b", 2, 3, 1)]
    assert shown(done, "hour", dense=True) == full
    assert shown(done, "filled") == full
    assert shown(done, "filled", dense=False) == shown(done, "hour")


def test_an_empty_window_has_counts_and_its_closing_batch(done: tuple[Pipeline, Path]) -> None:
    empty = read(done[0], "hour", root=done[1], dense=True).to_pylist()[1]
    assert (empty["n"], empty["sum"], empty["mean"], empty["last"]) == (0, None, None, None)
    assert not empty["list"]
    assert empty["batch"] == BEGIN + timedelta(hours=1)


def test_open_windows_reach_further(done: tuple[Pipeline, Path]) -> None:
    rows = read(done[0], "hour", root=done[1], dense=True, provisional=True).to_pylist()
    assert [(hour(row["window_start"]), row["n"], row["provisional"]) for row in rows if row["k"] == "a"] == [
        (0, 1, False), (1, 0, False), (2, 0, False), (3, 1, False), (4, 0, False), (5, 1, True),
    ]  # fmt: skip


# sliding: a in [-1, 1) [0, 2) [2, 4) [3, 5), so [1, 3) is missing; cumulating: all prefixes are there
def test_sliding_and_cumulating(done: tuple[Pipeline, Path]) -> None:
    assert [row for row in shown(done, "wide", dense=True) if row not in shown(done, "wide")] == [("a", 1, 3, 0)]
    assert shown(done, "sofar", dense=True) == [("a", 0, 1, 1), ("a", 0, 2, 1), ("a", 0, 3, 1), ("a", 0, 4, 2), *shown(done, "sofar")[4:]]


@pytest.mark.parametrize("window", ["hour", "filled", "wide", "sofar", "trail", "right", "late"])
def test_a_stretch_of_time_is_that_of_all(done: tuple[Pipeline, Path], window: str) -> None:
    whole = shown(done, window, dense=True, provisional=True)
    for start, end in ((0, 6), (1, 3), (2, 5), (5, 5), (9, 11)):
        between = {"start": BEGIN + timedelta(hours=start), "end": BEGIN + timedelta(hours=end)}
        some = shown(done, window, dense=True, provisional=True, **between)
        assert some == [row for row in whole if start <= row[1] and row[2] <= end]


def test_more_windows_than_a_table_holds_are_refused(done: tuple[Pipeline, Path]) -> None:
    pipeline, root = done[0], done[1].parent / "fine"
    fine = replace(pipeline, windows={"tick": windows.tumbling(1, dense=True), "ever": windows.cumulating("1s", step="100us")})
    run(fine, root=root, start=BEGIN, end=BEGIN + timedelta(hours=5), spark=HERE)
    with pytest.raises(DefinitionError, match=r"'tick' has about 12,600,000,002 windows.*at most 20,000,000.*dense=False") as wrong:
        read(fine, "tick", root=root)
    with pytest.raises(DefinitionError, match="'ever' has about 126,020,000 windows"):
        read(fine, "ever", root=root, dense=True)
    assert all(word in str(wrong.value) for word in ("start", "end", "keys"))
    assert read(fine, "tick", root=root, dense=False).num_rows == 3
    assert read(fine, "tick", root=root, keys={"k": "b"}).num_rows == 1
    assert read(fine, "tick", root=root, start=BEGIN, end=BEGIN + timedelta(milliseconds=1)).num_rows == 1000


def test_what_has_no_grid_is_refused(done: tuple[Pipeline, Path]) -> None:
    with pytest.raises(DefinitionError, match="'visit' has no grid that could have holes"):
        read(done[0], "visit", root=done[1], dense=True)
