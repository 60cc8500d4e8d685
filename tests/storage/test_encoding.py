"""Whole numbers and instants are stored as differences, and come back as they were, however far apart they lie: read by other engines."""

from datetime import date, time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.store.parquet import Encoding, encoded, read_parquet

FAR = [2**63 - 1, -(2**63), 0, None, -(2**63), 2**63 - 1, 1]
COLUMNS = {
    "far": pa.array(FAR),
    "far.apart": pa.array([2**31 - 1, -(2**31), None, 0, 2**31 - 1, -1, -(2**31)], pa.int32()),
    "small": pa.array([127, -128, None, 0, 127, -1, 5], pa.int8()),
    "moment": pa.array([2**61, -(2**55), None, 0, 1, -1, 5]).view(pa.timestamp("us", tz="UTC")),
    "day": pa.array([date(9999, 12, 31), date(1, 1, 1), None, *[date(2024, 1, 1)] * 4]),
    "clock": pa.array([time(23, 59, 59, 999_999), time(0), None, *[time(12)] * 4], pa.time64("us")),
}
PLAIN = {"real": pa.array([0.5] * 7), "text": pa.array(["a"] * 7), "flag": pa.array([True] * 7), "key": pa.array([5] * 7)}


@pytest.fixture
def file(tmp_path: Any) -> str:
    place = tmp_path / "file.parquet"
    place.write_bytes(encoded(pa.table(COLUMNS | PLAIN), Encoding(["key"], 4)))
    return str(place)


def test_which_columns_are_differences(file: str) -> None:
    group = pq.read_metadata(file).row_group(0)
    codes = {group.column(at).path_in_schema: group.column(at).encodings for at in range(group.num_columns)}
    assert {name for name, found in codes.items() if "DELTA_BINARY_PACKED" in found} == set(COLUMNS)
    assert "RLE_DICTIONARY" in codes["key"]


def test_columns_without_nulls_are_required_and_read_as_any_other(tmp_path: Path) -> None:
    place, table = tmp_path / "file.parquet", pa.table(COLUMNS | PLAIN | {"list": [[1, None]] * 7, "lists": [[1], None] * 3 + [[]]})
    place.write_bytes(encoded(table, Encoding(["key"], 4, required=True)))
    with_nulls = {name for name, column in zip(table.column_names, table.columns, strict=True) if column.null_count}
    assert {field.name for field in pq.read_schema(place) if field.nullable} == with_nulls
    assert read_parquet(str(place)).equals(table)
    assert read_parquet(str(place)).schema == table.schema
    assert duckdb.connect().read_parquet(str(place)).to_arrow_table().num_rows == pl.read_parquet(place).height == 7


def test_footers_tell_the_extremes_of_columns_that_rows_are_chosen_by(tmp_path: Path) -> None:
    place = tmp_path / "file.parquet"
    place.write_bytes(encoded(pa.table(PLAIN), Encoding(chosen_by=["key", "text"])))
    group = pq.read_metadata(place).row_group(0)
    told = {group.column(at).path_in_schema: group.column(at).statistics for at in range(group.num_columns)}
    assert {name for name, each in told.items() if each and each.has_min_max} == {"key", "text"}


def test_arrow_reads_what_was_written(file: str) -> None:
    assert pq.ParquetFile(file).read().equals(pa.table(COLUMNS | PLAIN))


@pytest.mark.parametrize("name", ["far", "far.apart", "small"])
def test_other_engines_read_the_same_numbers(file: str, name: str) -> None:
    wanted = COLUMNS[name].to_pylist()
    assert [row[0] for row in duckdb.connect().execute(f'SELECT "{name}" FROM read_parquet(?)', [file]).fetchall()] == wanted
    assert pl.read_parquet(file, columns=[name])[name].to_list() == wanted


@pytest.mark.parametrize("name", ["moment", "day", "clock"])
def test_other_engines_read_the_same_instants(file: str, name: str) -> None:
    kind = pa.int32() if name == "day" else pa.int64()
    wanted = COLUMNS[name].view(kind).to_pylist()
    found = duckdb.connect().read_parquet(file).to_arrow_table()[name].combine_chunks()
    assert found.cast(COLUMNS[name].type).view(kind).to_pylist() == wanted
    assert pl.read_parquet(file, columns=[name])[name].to_physical().cast(pl.Int64).to_list() == [
        each and each * (1_000 if name == "clock" else 1) for each in wanted
    ]


def test_spark_reads_the_same(tmp_path: Any, spark: Any) -> None:
    place = tmp_path / "file.parquet"
    place.write_bytes(encoded(pa.table(COLUMNS).drop_columns(["clock"])))  # a type that Spark has not
    asked = "far", "`far.apart`", "small", "unix_micros(moment)", "unix_date(day)"
    rows = spark.read.parquet(str(place)).selectExpr(*asked).collect()
    wanted = [COLUMNS["far"], COLUMNS["far.apart"], COLUMNS["small"], COLUMNS["moment"].view(pa.int64()), COLUMNS["day"].view(pa.int32())]
    assert [list(column) for column in zip(*rows, strict=True)] == [column.to_pylist() for column in wanted]
