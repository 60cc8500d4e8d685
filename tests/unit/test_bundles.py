"""Which splits are read together, and where rows of a bundle lie."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.jobs.accumulate import bundles as limits
from muntin.jobs.accumulate.accumulate_task import may_bundle, seen
from muntin.jobs.accumulate.bundles import Bundle, Seen, bundles
from muntin.jobs.accumulate.shares import Split
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from tests.end_to_end.hourly import START, hour


def part(start: int, *, size: int = 1, rows: tuple[int, ...] = (1,), columns: int = 1) -> Seen:
    """A split whose files have that many rows; its first file has all bytes."""
    paths = tuple(f"{start}-{number}" for number in range(len(rows)))
    files = [SourceFile(path, 0 if at else size, 0) for at, path in enumerate(paths)]
    return Seen(Split(start, start + 10, 0, paths, only=True), files, rows, columns)


MANY = limits.MOST_BATCHES
HALF, REST = limits.MOST_BYTES // 2, limits.MOST_BYTES - limits.MOST_BYTES // 2
ROWS = limits.MOST_ROWS


# splits in order; None is to be read alone                                        read together
@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], []),
        ([part(0)], [(0, 1)]),
        ([None], [(0, 1)]),
        ([None, None], [(0, 1), (1, 2)]),
        ([part(0), part(10), part(30)], [(0, 3)]),
        ([part(0), None, part(20), part(30)], [(0, 1), (1, 2), (2, 4)]),
        ([part(0), part(10), part(20, columns=2), part(30, columns=2)], [(0, 2), (2, 4)]),
        ([part(0), part(10, columns=2), part(20)], [(0, 1), (1, 2), (2, 3)]),
        ([part(0), part(20), part(10), part(30)], [(0, 2), (2, 4)]),
        ([part(0), part(0)], [(0, 1), (1, 2)]),
        ([part(0, size=HALF), part(10, size=REST), part(20)], [(0, 2), (2, 3)]),
        ([part(0, size=HALF), part(10, size=REST + 1), part(20)], [(0, 1), (1, 3)]),
        ([part(0, rows=(ROWS - 1,)), part(10, rows=(1,)), part(20, rows=(0,)), part(30)], [(0, 3), (3, 4)]),
        ([part(0, rows=(ROWS - 1,)), part(10, rows=(1, 1)), part(20)], [(0, 1), (1, 3)]),
        ([part(at) for at in range(MANY + 2)], [(0, MANY), (MANY, MANY + 2)]),
    ],
)
def test_splits_that_are_read_together(found: list[Seen | None], expected: list[tuple[int, int]]) -> None:
    assert [(stretch.start, stretch.stop) for stretch in bundles(found)] == expected


# batch     0          | 10 | 20
# files     a    b   c | d  | e   f
# rows      2    0   1 |    | 0   2
def test_the_place_of_a_row() -> None:
    bundle = Bundle([part(0, rows=(2, 0, 1)), part(10, rows=(0,)), part(20, rows=(0, 2))])
    assert bundle.paths == ["0-0", "0-1", "0-2", "10-0", "20-0", "20-1"]
    assert (bundle.starts.tolist(), bundle.ends.tolist(), bundle.rows.tolist()) == ([0, 10, 20], [10, 20, 30], [3, 0, 2])
    in_bundle, in_split, row = bundle.place(np.array([0, 0, 0, 20, 20]), np.array([0, 1, 2, 0, 1]))
    assert (in_bundle.tolist(), in_split.tolist(), row.tolist()) == ([0, 0, 2, 5, 5], [0, 0, 2, 1, 1], [0, 1, 0, 0, 1])


def bound(folder: Path, *, upstream: Pipeline | None = None, path: str = "{start:%H}.parquet") -> Bound:
    source = sources.windows(upstream, "hour") if upstream else sources.files(f"{folder}/{path}", event_time="at")
    kinds = {"hour": windows.tumbling("1h")}
    made = Pipeline(name="p", source=source, schedule="1h", start=START, windows=kinds, aggregates={"n": agg.count()})
    return Bound(made, folder)


def test_sources_whose_splits_may_be_read_together(tmp_path: Path) -> None:
    parquet = bound(tmp_path)
    assert may_bundle(parquet)
    assert not may_bundle(bound(tmp_path, path="{start:%H}.csv"))
    assert not may_bundle(bound(tmp_path, path="{start:%H}.jsonl"))
    assert may_bundle(bound(tmp_path, upstream=replace(parquet.pipeline, name="upstream")))


TIMES = pa.array([hour(0)], pa.timestamp("us", tz="UTC"))
PLAIN = pa.table({"at": TIMES, "x": [1]})
OTHERS = {
    "another type": pa.table({"at": TIMES, "x": [1.0]}),
    "another resolution": pa.table({"at": TIMES.cast(pa.timestamp("ms", tz="UTC")), "x": [1]}),
    "another order": pa.table({"x": [1], "at": TIMES}),
    "a column more": pa.table({"at": TIMES, "x": [1], "y": [1]}),
    "a column less": pa.table({"at": TIMES}),
    "no nulls": PLAIN.cast(pa.schema([pa.field("at", TIMES.type), pa.field("x", pa.int64(), nullable=False)])),
}


def numbers(folder: Path, tables: list[pa.Table | bytes | None], **more: Any) -> list[int | None]:
    """The numbers of the columns of a split with each of these files, with these bytes, or with no file."""
    splits = []
    for at, table in enumerate(tables):
        path = folder / f"{at:02d}.parquet"
        if isinstance(table, bytes):
            path.write_bytes(table)
        elif table is not None:
            pq.write_table(table, path)
        splits.append(Split(at, at + 1, 0, (str(path),), **{"only": True, **more}))
    return [one.columns if one else None for one in seen(bound(folder), splits)]


def test_files_with_the_same_columns_go_together(tmp_path: Path) -> None:
    noted = PLAIN.replace_schema_metadata({"pandas": "a note of another length"})
    assert numbers(tmp_path, [PLAIN, noted, PLAIN.slice(0, 0), PLAIN]) == [1, 1, 1, 1]


@pytest.mark.parametrize("other", OTHERS)
def test_files_with_other_columns_do_not(other: str, tmp_path: Path) -> None:
    assert numbers(tmp_path, [PLAIN, PLAIN, OTHERS[other], OTHERS[other], PLAIN]) == [1, 1, 2, 2, 3]


def test_files_that_are_gone_or_damaged_are_read_alone(tmp_path: Path) -> None:
    assert numbers(tmp_path, [PLAIN, None, b"damaged", b"", PLAIN]) == [1, None, None, None, 1]


def test_splits_that_are_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert numbers(tmp_path, [PLAIN, PLAIN], only=False) == [None, None]
    assert numbers(tmp_path, [PLAIN, PLAIN], watermark_us=5) == [None, None]
    monkeypatch.setattr("muntin.jobs.accumulate.accumulate_task.SMALL", (tmp_path / "00.parquet").stat().st_size)
    assert numbers(tmp_path, [PLAIN, OTHERS["a column more"], PLAIN]) == [1, None, 1]
    monkeypatch.setattr("muntin.jobs.accumulate.accumulate_task.MOST_ROWS", 1)
    assert numbers(tmp_path, [PLAIN, PLAIN.slice(0, 0)]) == [1, 1]
    monkeypatch.setattr("muntin.jobs.accumulate.accumulate_task.MOST_ROWS", 0)
    assert numbers(tmp_path, [PLAIN, PLAIN.slice(0, 0)]) == [None, 1]


def test_all_files_of_a_split_have_the_same_columns(tmp_path: Path) -> None:
    paths = tuple(f"{tmp_path}/{name}.parquet" for name in "abc")
    for path, table in zip(paths, (PLAIN, PLAIN, OTHERS["a column more"]), strict=True):
        pq.write_table(table, path)
    given = [Split(0, 1, 0, paths[:2], only=True), Split(1, 2, 0, paths[1:], only=True), Split(2, 3, 0, paths[:1], only=True)]
    assert [one and (one.columns, one.rows) for one in seen(bound(tmp_path), given)] == [(1, [1, 1]), None, (1, [1])]
