"""Pages of a table are the whole table by batch, the newest first: whatever the files, the sizes of pages and the conditions are."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.dataset as ds
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.jobs.inspect.some_windows import newest_rows
from muntin.states.columns import INSTANT
from muntin.store.parquet import write_named
from muntin.store.store import File, Snapshot
from tests.case_counts import cases

SCHEMA = pa.schema([("batch", INSTANT), ("k", pa.int64())])
files_of_rows = st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=6), max_size=6)


def written(folder: str, files: list[list[tuple[int, int]]]) -> Snapshot:
    found = []
    for at, rows in enumerate(files):
        table = pa.table({"batch": pa.array([batch for batch, _ in rows], INSTANT), "k": pa.array([k for _, k in rows], pa.int64())})
        told = write_named(table, Path(folder), lambda digest, at=at: f"{at}-{digest}.parquet")  # type: ignore[misc]
        found.append(File(told["path"], told["size"], told["rows"]))
    return Snapshot(0, tuple(found), SCHEMA)


# files     [9 9]   [3..7]  [5..6]       pages of two rows:  9 9 | 7 6 | 6 5 | ...
@given(files=files_of_rows, limit=st.integers(1, 5), key=st.none() | st.integers(0, 3))
@settings(max_examples=cases(180))
def test_pages_are_the_table(files: list[list[tuple[int, int]]], limit: int, key: int | None) -> None:
    with TemporaryDirectory() as folder:
        snapshot = written(folder, files)
        spans = [(min(batch for batch, _ in rows), max(batch for batch, _ in rows)) if rows else None for rows in files]
        found, begin = [], None
        while True:
            page = newest_rows(
                Path(folder),
                snapshot,
                lambda path: spans[int(path.partition("-")[0])],
                limit=limit,
                begin=begin,
                condition=None if key is None else ds.field("k") == key,
                order=["k"],
            )
            rows = zip(page.rows["batch"].cast(pa.int64()).to_pylist(), page.rows["k"].to_pylist(), strict=True)
            found.append([*rows])
            begin = page.after
            if begin is None:
                break
    every = sorted((row for rows in files for row in rows if key in (None, row[1])), key=lambda row: (-row[0], row[1]))
    assert [row for rows in found for row in rows] == every
    assert all(len(rows) == limit for rows in found[:-1])
    assert found[-1] or len(found) == 1
