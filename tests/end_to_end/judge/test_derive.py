"""Columns derived of a finished window's row: published, read, provisional, dense; wrong ones before anything is read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError, StateError
from muntin.jobs.schema_check.source_columns import bound_types
from muntin.jobs.state.bound import bind
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.storage.three_batches import HERE

START = datetime(2024, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TYPES = {"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "v": pa.int64()}
# minute   0          1    2          3
# v        1, 2, 6         4          5 (open)
REDUCED: dict[str, Any] = {"n": agg.count(), "large": agg.count_if("v > 1"), "values": agg.collect("v")}
SECONDS = {0: [(0, 1), (10, 2), (20, 6)], 2: [(120, 4)], 3: [(185, 5)]}


def pipeline(folder: Path, **changes: Any) -> Pipeline:
    for minute in range(4):
        rows = [{"t": START + timedelta(seconds=s), "k": "a", "v": v} for s, v in SECONDS.get(minute, [])]
        pq.write_table(pa.Table.from_pylist(rows, pa.schema(list(TYPES.items()))), folder / f"{minute:02}.parquet")
    asked: dict[str, Any] = {
        "name": "derived",
        "source": sources.files(f"{folder}/{{start:%M}}.parquet", event_time="t"),
        "schedule": MINUTE,
        "start": START,
        "keys": ["k"],
        "windows": {"w": windows.tumbling("1m"), "three": windows.arrival(windows.by_count(3))},
        "aggregates": REDUCED
        | {
            "share": "large / nullif(n, 0)",
            "percent": "round(100 * share)::INTEGER",
            "said": "k || ' at ' || minute(window_start)",
        },
    }
    return Pipeline(**(asked | changes))


def test_derived_columns_stand_behind_the_aggregates(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path), tmp_path / "root"
    run(flow, root=root, start=START, end=START + 3 * MINUTE, spark=HERE)
    table = read(flow, "w", root=root)
    names = ["k", "window_start", "window_end", "n", "large", "values", "share", "percent", "said", "batch"]
    assert table.column_names == names
    assert table["share"].to_pylist() == [2 / 3, 1.0]
    assert table["percent"].to_pylist() == [67, 100]
    assert table["said"].to_pylist() == ["a at 0", "a at 2"]
    assert DeltaTable(str(root / flow.name / "windows/w")).to_pyarrow_table().column_names == names
    dense = read(flow, "w", root=root, dense=True).to_pylist()
    assert [row["share"] for row in dense] == [2 / 3, None, 1.0]
    assert dense[1]["said"] == "a at 1"
    assert read(flow, "three", root=root)["share"].to_pylist() == [2 / 3]

    run(flow, root=root, start=START + 3 * MINUTE, end=START + 4 * MINUTE, spark=HERE)
    later = replace(flow, windows={"w": windows.tumbling("1m", grace="1h"), "three": flow.windows["three"]})
    run(later, root=root, start=START + 3 * MINUTE, end=START + 4 * MINUTE, spark=HERE)
    assert read(later, "w", root=root, provisional=True).column_names == [*names, "provisional"]
    opened = pipeline(tmp_path, name="open", windows={"w": windows.tumbling("1h")})
    run(opened, root=root, start=START, end=START + MINUTE, spark=HERE)
    (row,) = read(opened, "w", root=root, provisional=True).to_pylist()
    assert (row["share"], row["percent"], row["provisional"]) == (2 / 3, 67, True)


def test_a_changed_derivation_reads_nothing_again(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path, aggregates=REDUCED), tmp_path / "root"
    run(flow, root=root, start=START, end=START + 3 * MINUTE, spark=HERE)
    for file in tmp_path.glob("*.parquet"):
        if file.name != "03.parquet":
            file.unlink()
    more = replace(flow, aggregates=REDUCED | {"twice": "2 * n"})
    assert fingerprint(more) == fingerprint(flow)
    assert derivation(more, "w") != derivation(flow, "w")
    run(more, root=root, start=START + 3 * MINUTE, end=START + 4 * MINUTE, spark=HERE)
    assert read(more, "w", root=root)["twice"].to_pylist() == [6, 2, 2]


def test_windows_that_are_there_are_not_read_by_another_derivation(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path, aggregates=REDUCED, windows={"w": windows.tumbling("1h")}), tmp_path / "root"
    run(flow, root=root, start=START, end=START + MINUTE, spark=HERE)
    with pytest.raises(StateError, match=r"another definition than this \(aggregates: 'share' is new: large / n\)"):
        read(replace(flow, aggregates=REDUCED | {"share": "large / n"}), "w", root=root, provisional=True)


def test_what_has_no_value_is_told(tmp_path: Path) -> None:
    flow = pipeline(tmp_path, aggregates=REDUCED | {"number": "k::INTEGER"})
    with pytest.raises(SourceError, match=r"aggregates: .*Could not convert.*try_cast"):
        run(flow, root=tmp_path / "root", start=START, end=START + MINUTE, spark=HERE)


WRONG = {
    "unknown column": ({"share": "late / n"}, r"aggregates\['share'\].*late.*A window has: k VARCHAR, window_start .*, large BIGINT"),
    "one derived later": ({"a": "b + 1", "b": "n + 1"}, r"aggregates\['a'\].*b"),
    "types": ({"a": "k * 2"}, r"aggregates\['a'\]"),
    "no SQL": ({"a": "n +"}, r"aggregates\['a'\]"),
    "other windows": ({"a": "lag(n) over (order by window_start)"}, "window functions"),
    "all windows": ({"a": "sum(n)"}, "aggregates"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_expressions_are_refused_before_anything_is_read(name: str, tmp_path: Path) -> None:
    sql, said = WRONG[name]
    with pytest.raises(DefinitionError, match=said):
        bound_types(bind(pipeline(tmp_path, aggregates=REDUCED | sql), tmp_path), {}, [[f"{tmp_path}/00.parquet"]])


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ({"N": "large"}, "stands twice"),
        ({"K": "large"}, "stands twice"),
        ({"batch": "n"}, "reserved"),
        ({"window_index": "n"}, "has a column .window_index. already"),
        ({"a": ""}, "is no SQL"),
    ],
)
def test_wrong_names_are_refused_when_built(sql: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=said):
        pipeline(tmp_path, aggregates=REDUCED | sql)


def test_sql_alone_gives_no_windows(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"aggregates\['n'\]: 'count\(\*\)' is SQL over results .* add one, as aggregates.count\(\)"):
        pipeline(tmp_path, aggregates={"n": "count(*)"})
