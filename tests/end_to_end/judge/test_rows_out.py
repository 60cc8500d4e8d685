"""SPL's Sort: the members of a window as rows, in order."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.inspect.explain import explain
from tests.storage.three_batches import HERE

BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10)


def sorting(folder: Path, window: Any) -> Pipeline:
    source = sources.files(str(folder / "{start:%H%M}.parquet"), event_time="t")
    aggregates = {"v": agg.collect_sorted("v"), "n": agg.count(), "came": agg.collect("v")}
    return Pipeline(name="sort", source=source, schedule="10m", start=BEGIN, windows={"w": window}, aggregates=aggregates)


def write(folder: Path, number: int, values: list[int]) -> None:
    times = pa.array([BEGIN + number * STEP] * len(values), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "v": values}), folder / f"{BEGIN + number * STEP:%H%M}.parquet")


# S1: count(3), sort by v: 3, 1, 2 -> 1, 2, 3 of window 0; the second window crosses the batches
def test_count_then_sort(tmp_path: Path) -> None:
    write(tmp_path, 0, [3, 1, 2, 9])
    write(tmp_path, 1, [7, 8, 5])
    pipeline = sorting(tmp_path, windows.arrival(windows.by_count(3), output="rows"))
    report = run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + 2 * STEP, spark=HERE)
    table = read(pipeline, "w", root=tmp_path / "state")
    assert table.column_names == ["window_start", "window_end", "window_index", "position", "v", "n", "came", "batch"]
    rows = [(row["window_index"], row["position"], row["v"], row["came"], row["n"]) for row in table.to_pylist()]
    assert rows == [(0, 0, 1, 3, 3), (0, 1, 2, 1, 3), (0, 2, 3, 2, 3), (1, 0, 7, 9, 3), (1, 1, 8, 7, 3), (1, 2, 9, 8, 3)]
    assert [batch.windows_closed["w"] for batch in report.batches] == [1, 1]
    [window] = explain(pipeline, "w", root=tmp_path / "state", at=BEGIN).windows[:1]
    assert (window.window["v"], [part.rows for part in window.parts], window.closed_by) == ([1, 2, 3], [1, 1, 1], BEGIN)
    still_open = read(pipeline, "w", root=tmp_path / "state", provisional=True).to_pylist()[-1]
    assert (still_open["window_index"], still_open["v"], still_open["provisional"]) == (2, 5, True)


# sliding by count: what is held, sorted, after every row
def test_sorted_after_every_row(tmp_path: Path) -> None:
    write(tmp_path, 0, [3, 1, 2])
    window = windows.arrival(windows.by_count(2), trigger=windows.by_count(1), incomplete=True, output="rows")
    pipeline = sorting(tmp_path, window)
    run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)
    assert [(row["window_index"], row["v"]) for row in read(pipeline, "w", root=tmp_path / "state").to_pylist()] == [
        (0, 3),
        (1, 1),
        (1, 3),
        (2, 1),
        (2, 2),
    ]


def test_there_must_be_a_list(tmp_path: Path) -> None:
    window, source = windows.arrival(windows.by_count(3), output="rows"), sorting(tmp_path, windows.by_count(3)).source
    with pytest.raises(DefinitionError, match="takes lists apart; add one"):
        Pipeline(name="p", source=source, schedule="10m", start=BEGIN, windows={"w": window}, aggregates={"n": agg.count()})
