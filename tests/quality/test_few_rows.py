"""Staged files with few rows, which the driver reads: the frame is the same as when Spark reads them."""

import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.quality import spark_frame as of_driver
from muntin.quality.spark_frame import few_rows, spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTANT = datetime(2013, 3, 31, 1, 30, 0, 123456, tzinfo=UTC)
LOCAL = INSTANT.replace(tzinfo=None)
COLUMNS: dict[str, pa.Array] = {
    "flag": pa.array([True, None, False]),
    "tiny": pa.array([1, None, -128], pa.int8()),
    "short": pa.array([1, None, -3], pa.int16()),
    "int": pa.array([1, None, -3], pa.int32()),
    "long": pa.array([2**63 - 1, None, -(2**63)], pa.int64()),
    "single": pa.array([0.1, None, math.nan], pa.float32()),
    "double": pa.array([-0.0, None, math.inf], pa.float64()),
    "text": pa.array(["", None, "Zürich"]),
    "day": pa.array([date(1582, 10, 4), None, date(2013, 1, 1)]),
    "instant": pa.array([INSTANT, None, datetime(1900, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    "elsewhere": pa.array([INSTANT, None, None], pa.timestamp("us", "Europe/Zurich")),
    "local": pa.array([LOCAL, None, LOCAL], pa.timestamp("us")),
}
OTHERS: dict[str, pa.Array] = {
    "unsigned": pa.array([2**64 - 1], pa.uint64()),
    "duration": pa.array([timedelta(seconds=1)], pa.duration("us")),
    "nanoseconds": pa.array([LOCAL], pa.timestamp("ns")),
    "list": pa.array([[1]]),
    "bytes": pa.array([b"x"]),
    "half": pa.array([0.5], pa.float16()),
}


def write(folder: Path, *tables: pa.Table) -> list[str]:
    files = [str(folder / f"{number} of all.parquet") for number in range(len(tables))]
    for file, table in zip(files, tables, strict=True):
        pq.write_table(table, file)
    return files


@pytest.mark.spark
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_the_frame_is_that_which_spark_reads(spark: "SparkSession", tmp_path: Path, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(COLUMNS)
    files = write(tmp_path, table, table.slice(1))
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        assert few_rows(spark, files) is not None
        frames = []
        for most in (of_driver.ROWS, 0):
            monkeypatch.setattr(of_driver, "ROWS", most)
            with spark_frame(spark, files, rows=5) as staged:
                frame = staged.numbered
                frames.append((frame.schema.simpleString(), [str(row) for row in frame.collect()], frame.toArrow()))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    (schema, rows, values), (schema_of_spark, rows_of_spark, values_of_spark) = frames
    assert schema == schema_of_spark
    assert rows == rows_of_spark
    assert values.schema == values_of_spark.schema
    assert values.to_pydict().keys() == {*COLUMNS, "__muntin_row"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_type_that_spark_might_read_in_another_way_is_left_to_spark(name: str, tmp_path: Path) -> None:
    files = write(tmp_path, pa.table({"long": pa.array([1]), name: OTHERS[name]}))
    assert few_rows(None, files) is None  # type: ignore[arg-type]


LEFT = {
    "many rows": [pa.table({"n": pa.nulls(of_driver.ROWS + 1, pa.int64())})],
    "wide rows": [pa.table({"text": [str(n) * 1000 for n in range(1000)]})],
    "two schemas": [pa.table({"n": [1]}), pa.table({"n": [1.5]})],
    "no file": [],
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_much_or_mixed_is_left_to_spark(case: str, tmp_path: Path) -> None:
    assert few_rows(None, write(tmp_path, *LEFT[case])) is None  # type: ignore[arg-type]


def test_what_cannot_be_read_is_left_to_spark(tmp_path: Path) -> None:
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(b"PAR1")
    assert few_rows(None, [str(torn)]) is None  # type: ignore[arg-type]
    assert few_rows(None, ["nowhere.parquet"]) is None  # type: ignore[arg-type]
