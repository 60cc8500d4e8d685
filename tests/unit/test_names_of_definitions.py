"""Names of windows, pipelines and columns work wherever they are read, or are refused when they are defined."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, as_of, over, read, run, sources, sql, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.status import status
from muntin.tasks import Local
from tests.case_counts import some

START, DAY = datetime(2024, 5, 1, tzinfo=UTC), timedelta(days=1)
FOLDERS = ("windows", "_sinks", "frames", "staging", "tiers", "quarantine", "metadata", "_x", "a..b", "a.", "day.parquet", "x" * 128)
WORDS = ("select", "from", "table", "null", "main", "information_schema", "pg_catalog", "temp", "1", "values", "batch", "k", "s")
COLUMNS = (
    "select",
    "a b",
    'a"b',
    "a'b",
    "a.b",
    "{a}",
    "%",
    " ",
    "rowid",
    "filename",
    "_metadata",
    "count_n",
    "position",
    "tie",
    "cut",
    "NULL",
)
NAMES = [
    *(("window", name) for name in (*FOLDERS, *WORDS)),
    *(("pipeline", name) for name in ("windows", "_sinks", "frames", "con", "select", "muntin.json", "day.parquet", "x" * 128)),
    *((part, name) for part in ("key", "result", "derived") for name in COLUMNS),
]
REFUSED = [
    ("window", "_delta_log", "each table's own log"),
    ("window", "_Delta_Log", "each table's own log"),
    ("pipeline", "_delta_log", "each table's own log"),
    ("window", "x" * 129, "129 characters"),
    ("pipeline", "x" * 300, "300 characters"),
    ("window", "../x", "cannot name a folder"),
    ("pipeline", ".x", "cannot name a folder"),
    *((part, name, "Muntin's own") for part in ("key", "result", "derived") for name in ("muntin_place", "Muntin_N", "window_index")),
    *((part, name, "reserved") for part in ("key", "result", "derived") for name in ("batch", "window_start", "Frame", "provisional")),
    ("key", "sum_v", "a column of the states"),
]


def named(folder: Path, part: str, name: str) -> tuple[Pipeline, dict[str, str]]:
    parts = {"window": "day", "pipeline": "p", "key": "k", "result": "s", "derived": "d"} | {part: name}
    result = parts["result"].replace('"', '""')
    pipeline = Pipeline(
        name=parts["pipeline"],
        source=sources.files(str(folder / "{start:%Y-%m-%d}.parquet"), event_time="at"),
        schedule="@daily",
        start=START,
        keys=[parts["key"]],
        windows={parts["window"]: windows.tumbling("1d", grace="1h")},
        aggregates={parts["result"]: agg.sum("v"), "n": agg.count(), parts["derived"]: f'"{result}" + 1'},
    )
    return pipeline, parts


@pytest.mark.parametrize(("part", "name", "said"), REFUSED)
def test_names_that_cannot_be_are_refused(part: str, name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=said):
        named(tmp_path, part, name)


def works(folder: Path, part: str, name: str) -> None:
    pipeline, parts = named(folder, part, name)
    window, key, result, derived, root = parts["window"], parts["key"], parts["result"], parts["derived"], folder / "state"
    for number in range(3):
        at = START + number * DAY
        rows = {"at": pa.array([at + DAY / 4, at + DAY / 2], pa.timestamp("us", "UTC")), key: ["a", "b"], "v": [1.5, 2.0]}
        pq.write_table(pa.table(rows), folder / f"{at:%Y-%m-%d}.parquet")
        run(pipeline, root=root, start=at, end=at + DAY, spark=Local(1))
    found = read(pipeline, window, root=root)
    assert found.column_names == [key, "window_start", "window_end", result, "n", derived, "batch"]
    assert found.select([key, result, derived]).to_pydict() == {
        key: ["a", "a", "b", "b"],
        result: [1.5, 1.5, 2, 2],
        derived: [2.5, 2.5, 3, 3],
    }
    assert len(read(pipeline, window, root=root, provisional=True)) == 6
    assert read(pipeline, window, root=root, keys={key: "a"}, columns=[result])[result].to_pylist() == [1.5, 1.5]
    assert len(read(pipeline, window, root=root, changes_since=-1)) == 4
    columns = ", ".join('"{}"'.format(each.replace('"', '""')) for each in (key, result))
    assert len(sql(pipeline, f'select {columns} from "{window}"', root=root)) == 4
    assert status(pipeline, root=root).windows[0].windows == 4
    rows = pa.table({"when": pa.array([START + 3 * DAY], pa.timestamp("us", "UTC")), key: ["a"]})
    assert as_of(pipeline, window, rows, at="when", root=root)[result].to_pylist() == [1.5]
    assert sorted(over(pipeline, START, START + 2 * DAY, root=root)[result].to_pylist()) == [3.0, 4.0]
    [explained] = explain(pipeline, window, root=root, key=["a"], at=START + DAY / 4).windows
    assert explained.window[result] == 1.5


@pytest.mark.parametrize(("part", "name"), some(NAMES))
def test_names_that_are_taken_work_wherever_they_are_read(part: str, name: str, tmp_path: Path) -> None:
    works(tmp_path, part, name)
