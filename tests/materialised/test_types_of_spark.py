"""Values of every type that Spark has, in files that Spark writes and in DataFrames that it reads: each is in its window as it was."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from muntin import run, sources
from tests.end_to_end.exact_values import exact
from tests.end_to_end.hourly import HOUR, START
from tests.end_to_end.typed_columns import COLUMNS, NESTED
from tests.end_to_end.written_by import of_rows, table_of, wrong_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAMES = (
    *("int8", "int16", "int32", "int64", "int64 beyond doubles", "float32", "float64", "decimal(9,2)", "decimal(38,0)", "decimal(38,38)"),
    *(
        "bool",
        "text",
        "bytes",
        "date",
        "instants in us, UTC",
        "list",
        "struct",
        "map",
        "list of decimals",
        "list of floats",
        "list of instants",
    ),
    *("list of bytes", "list of lists", "map of days"),
)
TYPES = {name: (COLUMNS | NESTED)[name] for name in _NAMES}
EXPECTED = {name: exact(column) for name, column in zip(table_of(TYPES).column_names, table_of(TYPES).columns, strict=True)}
WRITTEN: Mapping[str, Mapping[str, str]] = {
    "INT96": {"outputTimestampType": "INT96"},
    "TIMESTAMP_MICROS": {"outputTimestampType": "TIMESTAMP_MICROS"},
    "as of old": {"writeLegacyFormat": "true", "outputTimestampType": "INT96"},
}


def frame(spark: "SparkSession") -> "DataFrame":
    rows = table_of(TYPES)
    return spark.createDataFrame(rows.set_column(0, "at", rows["at"].cast(pa.timestamp("s", "UTC"))))


def whole(place: str, spark: "SparkSession", _start: datetime, _end: datetime) -> "DataFrame":
    return spark.read.parquet(place)


@pytest.mark.parametrize("form", WRITTEN)
def test_files_that_spark_writes(spark: "SparkSession", tmp_path: Path, form: str) -> None:
    settings = {f"spark.sql.parquet.{name}": value for name, value in WRITTEN[form].items()}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        frame(spark).coalesce(1).write.parquet(str(tmp_path / "data/00"))
    finally:
        for name in settings:
            spark.conf.unset(name)
    made = of_rows(tmp_path, "parquet", [*TYPES])
    made = replace(made, path="{start:%H}/*.parquet", source={})
    (batch,) = made.run().batches
    assert batch.rows_quarantined == 0
    assert wrong_of(made, [*TYPES], EXPECTED) == []


def test_frames_that_spark_reads(spark: "SparkSession", tmp_path: Path) -> None:
    frame(spark).coalesce(1).write.parquet(str(tmp_path / "rows"))
    made = of_rows(tmp_path, "parquet", [*TYPES])
    made = replace(made, other={**made.other, "source": sources.spark(partial(whole, str(tmp_path / "rows")), event_time="at")})
    run(made.pipeline, root=made.root, start=START, end=START + HOUR, spark=spark)
    assert wrong_of(made, [*TYPES], EXPECTED) == []
