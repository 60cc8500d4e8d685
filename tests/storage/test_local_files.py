"""Rows of files on a disk, read row group by row group, against a dataset of Arrow's that filters every row."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.states.derived_columns import footer_for, whole
from muntin.store.local_files import Between, local_rows
from muntin.store.parquet import STATES_IN_A_GROUP
from muntin.store.reading import dataset_of, held_rows
from muntin.store.shared_files import write_shared
from muntin.tasks import Local
from muntin.timeline.batches import Batches

START = datetime(2024, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema([("k", pa.string()), ("bucket", pa.int16()), ("frame", pa.int64()), ("rows", pa.int64()), ("n", pa.int64())])


def made(seed: int, *, order: bool, narrow: bool, lacks: bool) -> pa.Table:
    """Some hundred rows: sorted by bucket or not, with `n` as a narrower type, or without it."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(0, 300))
    bucket = draw.integers(0, 1024, count).astype(np.int16)
    columns = {
        "k": pa.array(draw.choice(["a", "b", "c"], count)),
        "bucket": pa.array(np.sort(bucket) if order else bucket),
        "frame": pa.array(draw.integers(0, 50, count)),
        "rows": pa.array(np.ones(count, np.int64)),
        "n": pa.array(draw.integers(0, 9, count), pa.int32() if narrow else pa.int64(), mask=draw.random(count) < 0.2),
    }
    table = pa.table(columns)
    return table.drop_columns(["n"]) if lacks else table


@example([(5777, True, False, False)], 7, 8, (255, 487))  # whose row groups Arrow gives out of order
@given(
    st.lists(st.tuples(st.integers(0, 2**31), st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=4),
    st.sampled_from([7, 64, 1000]),
    st.one_of(st.none(), st.integers(-1, 51)),
    st.one_of(st.none(), st.tuples(st.integers(0, 1024), st.integers(0, 1024))),
)
def test_as_a_dataset_reads(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[int, bool, bool, bool]],
    group: int,
    below: int | None,
    buckets: tuple[int, int] | None,
) -> None:
    folder = tmp_path_factory.mktemp("files")
    places = [f"{folder}/{number}.parquet" for number in range(len(files))]
    for place, (seed, order, narrow, lacks) in zip(places, files, strict=True):
        pq.write_table(made(seed, order=order, narrow=narrow, lacks=lacks), place, row_group_size=group)
    condition = None if below is None else ds.field("frame") < below
    between = None if buckets is None else Between("bucket", *sorted(buckets))
    bucket = ds.field("bucket")
    inside = None if between is None else (bucket >= between.low) & (bucket < between.high)
    every = [each for each in (condition, inside) if each is not None]
    oracle = dataset_of(places, SCHEMA).to_table(["k", "frame", "n"])
    asked = ["k", "frame", "n"]
    if every:
        rows = dataset_of(places, SCHEMA).to_table()
        for each in every:
            rows = rows.filter(each)
        oracle = rows.select(asked)
    assert local_rows(places, SCHEMA, asked, condition, between).equals(oracle)


def test_files_that_hold_a_value_once_are_read_as_they_say(tmp_path: Path) -> None:
    """
    0.parquet   says that rows is one      1.parquet   says nothing
    """
    table = made(3, order=True, narrow=False, lacks=False)
    held = table.drop_columns(["rows"]).replace_schema_metadata(footer_for({"rows": ("one", "rows"), "n": None}))
    places = [f"{tmp_path}/0.parquet", f"{tmp_path}/1.parquet"]
    pq.write_table(held, places[0])
    pq.write_table(table, places[1])
    for some in (places[:1], places):
        found = whole(local_rows(some, SCHEMA, SCHEMA.names))
        oracle = whole(held_rows(dataset_of(some, SCHEMA), SCHEMA.names))
        assert found.select(SCHEMA.names).equals(oracle.select(SCHEMA.names))
        assert pc.sum(found["rows"]).as_py() == len(table) * len(some)


def test_rows_that_lie_together_are_not_copied() -> None:
    """
    bucket   0 0 1 2 2 3
                 ^---^      between 1 and 3
    """
    table = pa.table({"bucket": pa.array([0, 0, 1, 2, 2, 3], pa.int16()), "n": [1, 2, 3, 4, 5, 6]})
    found = Between("bucket", 1, 3).of(table)
    assert found["n"].to_pylist() == [3, 4, 5]
    assert found["n"].chunk(0).buffers()[1].address == table["n"].chunk(0).buffers()[1].address
    apart = table.take(pa.array([3, 0, 2]))
    assert Between("bucket", 1, 3).of(apart)["n"].to_pylist() == [4, 3]
    assert Between("bucket", 7, 9).of(table).num_rows == 0


def test_only_row_groups_that_may_hold_such_rows_are_read(tmp_path: Path) -> None:
    """
    group    0   1   2   3
    bucket   0 1 1 2 3 5 6 9
                   ^---^          from 2 on and below 6
    """
    table, file = pa.table({"n": range(8), "bucket": pa.array([0, 1, 1, 2, 3, 5, 6, 9], pa.int16())}), f"{tmp_path}/a.parquet"
    pq.write_table(table, file, row_group_size=2)
    assert Between("bucket", 2, 6).groups(pq.read_metadata(file)) == [1, 2]
    assert Between("bucket", 4, 5).groups(pq.read_metadata(file)) == [2], "it may, by what the footer tells, and does not"
    assert Between("bucket", 10, 20).groups(pq.read_metadata(file)) == []
    pq.write_table(table, file, row_group_size=2, write_statistics=False)
    assert Between("bucket", 2, 6).groups(pq.read_metadata(file)) == [0, 1, 2, 3]


def test_no_other_row_groups_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    bucket   0 0 | 1 1 | 2 2 | 3 3     frame below 5 in all
                   ~~~~~~~~~           from 1 on and below 3
    """
    table = pa.table({"bucket": pa.array([0, 0, 1, 1, 2, 2, 3, 3], pa.int16()), "frame": range(8), "n": range(8)})
    place, asked, read = f"{tmp_path}/a.parquet", list[list[int]](), pq.ParquetFile.read_row_groups
    pq.write_table(table, place, row_group_size=2)
    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", lambda file, groups, **how: asked.append(groups) or read(file, groups, **how))
    assert local_rows([place], SCHEMA, ["n"], None, Between("bucket", 1, 3))["n"].to_pylist() == [2, 3, 4, 5]
    assert local_rows([place], SCHEMA, ["n", "frame"], ds.field("frame") < 4, Between("bucket", 1, 3))["n"].to_pylist() == [2, 3]
    assert asked == [[1, 2], [1]]


def test_a_footer_is_read_once_for_all_parts_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task of a worker reads the rows of other buckets."""
    table = pa.table({"bucket": pa.array([0, 0, 1, 1], pa.int16()), "n": range(4)})
    place, asked, read = f"{tmp_path}/a.parquet", list[str](), pq.read_metadata
    pq.write_table(table, place, row_group_size=2)
    monkeypatch.setattr(pq, "read_metadata", lambda path: asked.append(path) or read(path))
    found = [local_rows([place], SCHEMA, ["n"], None, Between("bucket", at, at + 1))["n"].to_pylist() for at in range(3)]
    assert (found, asked) == ([[0, 1], [2, 3], []], [place])


def test_states_lie_in_small_row_groups(tmp_path: Path) -> None:
    """
    states of a batch   |-----|-----|-----|--|    also where batches share a file
    """
    count = 3 * STATES_IN_A_GROUP + 1
    (tmp_path / "data").mkdir()
    rows = {"at": pa.array([START] * count, pa.timestamp("us", tz="UTC")), "k": range(count)}
    pq.write_table(pa.table(rows), tmp_path / "data/a.parquet")
    pipeline = Pipeline(
        name="many",
        source=sources.files(str(tmp_path / "data/*.parquet"), event_time="at", all_files=True),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"hours": windows.tumbling("1h")},
        aggregates={"n": agg.count()},
    )
    run(pipeline, root=tmp_path / "state", start=START, end=START + timedelta(hours=1), spark=Local(1))
    [states] = (tmp_path / "state").rglob("frames/**/*.parquet")
    batch = Batches.of([(0, 3_600_000_000, 1, 0, 0, 0, count)])
    shared = tmp_path / write_shared(pq.read_table(states, partitioning=None), tmp_path, batch, ["k"]).path
    for file in (states, shared):
        footer = pq.read_metadata(file)
        assert [footer.row_group(at).num_rows for at in range(footer.num_row_groups)] == [STATES_IN_A_GROUP] * 3 + [1]


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        local_rows([f"{tmp_path}/none.parquet"], SCHEMA, ["k"])
