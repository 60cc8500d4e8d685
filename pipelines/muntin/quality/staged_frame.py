"""The staged files as a Spark frame, with a number in every row to find it again; if Spark reads them, cached while they are checked."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from muntin.definition.relative_paths import is_object_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ROW_NUMBER = "__muntin_row"
ONE_PARTITION_ROWS = 1_000_000
NO_GLOB = {"__globPaths__": "false"}


@contextmanager
def staged_frame(spark: SparkSession, files: Sequence[str], *, rows: int) -> Iterator[DataFrame]:
    """A frame with the files' columns and `ROW_NUMBER`, for as long as the block lasts.

    Up to a million rows are put into one partition: an aggregate over them is then one Spark job instead of two. Without
    files, the frame has no rows, and the number is its only column.
    """
    from muntin.quality.few_rows import few_rows

    if (few := few_rows(spark, files)) is not None:
        yield _numbered(few.coalesce(1))
        return
    frame = _read(spark, files) if files else spark.range(0).drop("id")
    if rows <= ONE_PARTITION_ROWS:
        frame = frame.coalesce(1)
    frame = _numbered(frame).persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def _numbered(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("*", f"monotonically_increasing_id() as {ROW_NUMBER}")


def _read(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """The rows of files: read by Spark itself, but from an object store by tasks of ours, which need no jar."""
    if not any(map(is_object_store, files)):
        return spark.read.options(**NO_GLOB).parquet(*files)
    import pyarrow.parquet as pq
    from pyspark.sql.pandas.types import from_arrow_schema

    from muntin.files.readable import readable, readable_footer

    schema = _plain(pq.read_schema(readable_footer(files[0])).remove_metadata())

    def rows(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch["id"].to_pylist():
                yield from pq.read_table(readable(files[number])).select(schema.names).cast(schema).to_batches()

    return spark.range(0, len(files), 1, len(files)).mapInArrow(rows, from_arrow_schema(schema, prefer_timestamp_ntz=True))


def _plain(schema: pa.Schema) -> pa.Schema:
    """A schema without dictionaries, which Spark does not take."""
    import pyarrow as pa

    return pa.schema([field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema])


def fetch(frame: DataFrame, numbers: Collection[int]) -> dict[int, Mapping[str, object]]:
    """Row number -> row, for these numbers, in one Spark job. Instants are aware datetimes."""
    if not numbers:
        return {}
    listed = ", ".join(str(number) for number in sorted(numbers))
    rows = frame.where(f"{ROW_NUMBER} in ({listed})").toArrow().to_pylist()
    return {row.pop(ROW_NUMBER): row for row in rows}
