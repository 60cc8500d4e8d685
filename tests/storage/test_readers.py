"""Whoever reads published windows reads the same rows: deltalake, Polars, DuckDB, Spark."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.properties.equal_values import bitwise
from tests.storage.three_batches import OTHER, Small

ORDER = [(name, "ascending") for name in ("k", "window_start", "window_end")]


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Published, and one batch replaced: old files lie beside new ones."""
    made = Small(tmp_path)
    made.write_all()
    made.run("state")
    made.write(1, OTHER)
    made.run("state", 1, 1)
    return made


def folder(small: Small, table: str) -> str:
    return f"{small.store('state').root}/{table}"


def shaped(found: pa.Table, like: pa.Table) -> pa.Table:
    return found.select(like.column_names).cast(like.schema).sort_by(ORDER).combine_chunks()


@pytest.mark.parametrize("window", ["hours", "visits"])
def test_every_reader_agrees(small: Small, spark: Any, window: str) -> None:
    wanted, place = small.tables("state")[window], folder(small, f"../windows/{window}")
    assert len(wanted) > 5
    delta = DeltaTable(place)
    files = delta.file_uris()
    dataset = delta.to_pyarrow_dataset()
    assert bitwise(shaped(delta.to_pyarrow_table(), wanted), wanted)
    assert bitwise(shaped(pl.read_delta(place).to_arrow(), wanted), wanted)
    assert bitwise(shaped(duckdb.sql("FROM dataset").to_arrow_table(), wanted), wanted)
    assert dataset.count_rows() == len(wanted)
    seen = spark.read.parquet(*files).orderBy("k", "window_start", "window_end").collect()
    assert [tuple(row[name] for name in ("k", "n", "total", "spread")) for row in seen] == [
        tuple(row[name] for name in ("k", "n", "total", "spread")) for row in wanted.to_pylist()
    ]


@pytest.mark.parametrize("table", ["../windows/hours", "frames/20m", "quarantine", "reports"])
def test_every_table_is_read_by_deltalake_and_polars(small: Small, table: str) -> None:
    place = folder(small, table)
    rows = DeltaTable(place).to_pyarrow_table().num_rows
    assert rows == pl.read_delta(place).height > 0


def test_a_reader_may_ask_for_a_part(small: Small) -> None:
    wanted = small.tables("state")["hours"]
    dataset = DeltaTable(folder(small, "../windows/hours")).to_pyarrow_dataset()
    for moment in wanted["window_start"].unique():
        part = dataset.count_rows(filter=pa.dataset.field("window_start") == moment)
        assert part == wanted["window_start"].to_pylist().count(moment.as_py())
