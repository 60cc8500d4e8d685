"""The staged files as a Spark frame, with a number in every row to find it again; if Spark reads them, cached
while they are checked.
Staged files with few rows: the driver reads them and gives Spark their rows with the question, which
spares Spark several jobs.

Only where Spark would read the same: files of one schema, whose types are the same in Arrow, in Parquet and
in Spark.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from muntin.definition.relative_paths import is_object_store
from muntin.files.readable import opened, readable_footer
from muntin.quality.gx import ROW_NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession


ONE_PARTITION_ROWS = 1_000_000
ORDERED_FILES = 100
NO_GLOB = {"__globPaths__": "false"}


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A Spark frame whose last column is `ROW_NUMBER`."""

    spark: SparkSession
    numbered: DataFrame
    numbered_by: ClassVar[Mapping[str, object]] = {
        "unexpected_index_column_names": [ROW_NUMBER],
        "exclude_unexpected_values": True,
    }

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.numbered.columns if name != ROW_NUMBER)

    def batch(self, context: Any, *, numbered: bool) -> Any:  # noqa: ANN401 - of Great Expectations
        source = context.data_sources.add_spark("staged", persist=False)
        source._spark = self.spark  # noqa: SLF001 - else queries run in whatever session is current
        frame = self.numbered if numbered else self.numbered.drop(ROW_NUMBER)
        return (
            source.add_dataframe_asset("windows")
            .add_batch_definition_whole_dataframe("whole")
            .get_batch({"dataframe": frame})
        )

    def rows(self, numbers: Collection[int]) -> Mapping[int, Mapping[str, object]]:
        if not numbers:
            return {}
        listed = ", ".join(str(number) for number in sorted(numbers))
        rows = self.numbered.where(f"{ROW_NUMBER} in ({listed})").toArrow().to_pylist()
        return {row.pop(ROW_NUMBER): row for row in rows}


@contextmanager
def spark_frame(spark: SparkSession, files: Sequence[str], *, rows: int) -> Iterator[SparkFrame]:
    """The frame of the files, for as long as the block lasts.

    Up to a million rows are put into one partition: an aggregate over them is then one Spark job instead of
    two. Without files, the frame has no rows, and the number is its only column.
    """
    if (few := few_rows(spark, files)) is not None:
        yield SparkFrame(spark, _numbered(few.coalesce(1)))
        return
    frame = _read(spark, files) if files else spark.range(0).drop("id")
    if rows <= ONE_PARTITION_ROWS:
        frame = frame.coalesce(1)
    frame = _numbered(frame).persist()
    try:
        yield SparkFrame(spark, frame)
    finally:
        frame.unpersist()


def _numbered(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("*", f"monotonically_increasing_id() as {ROW_NUMBER}")


def _read(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """The rows of files: read by Spark, but from an object store by tasks of ours, which need no jar."""
    if not any(map(is_object_store, files)):
        return _in_order(spark, files)
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = _plain(pq.read_schema(readable_footer(files[0])).remove_metadata())

    def rows(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch["id"].to_pylist():
                yield from opened(files[number]).read().select(schema.names).cast(schema).to_batches()

    return spark.range(0, len(files), 1, len(files)).mapInArrow(
        rows, from_arrow_schema(schema, prefer_timestamp_ntz=True)
    )


def _in_order(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """The rows in the order of the files: the failing rows that are shown are then the same as without Spark.

    Spark itself reads the largest file first. Beyond a hundred files the plan would be too long.
    """
    read = spark.read.options(**NO_GLOB)
    if not 1 < len(files) <= ORDERED_FILES:
        return read.parquet(*files)
    first, *others = files
    together = read.parquet(first)
    reader = read.schema(together.schema)
    return reduce(lambda before, file: before.union(reader.parquet(file)), others, together)


def _plain(schema: pa.Schema) -> pa.Schema:
    """A schema without dictionaries, which Spark does not take."""
    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )


ROWS, BYTES, FILES = 10_000, 2**20, 32
"""A frame travels to the server with each of Great Expectations' questions; and files are opened one after
the other.
"""
_SAME = (
    types.is_boolean,
    types.is_signed_integer,
    types.is_float32,
    types.is_float64,
    types.is_string,
    types.is_date32,
)


def few_rows(spark: SparkSession, files: Sequence[str]) -> DataFrame | None:
    """A frame of the files' rows; None if there are many, or Spark might understand a type in another way:
    then Spark reads them.

    A file that cannot be read is left to Spark as well, which tells what is wrong.
    """
    if not 0 < len(files) <= FILES:
        return None
    try:
        footers = [pq.read_metadata(readable_footer(file)) for file in files]
        schema = footers[0].schema.to_arrow_schema().remove_metadata()
        if (
            not _is_few(footers)
            or not _is_plain(schema)
            or any(footer.schema != footers[0].schema for footer in footers)
        ):
            return None
        table = pa.concat_tables([opened(file).read().cast(schema) for file in files])
    except (pa.ArrowException, OSError):
        return None
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(table, from_arrow_schema(schema, prefer_timestamp_ntz=True))


def _is_few(footers: Sequence[pq.FileMetaData]) -> bool:
    size = sum(
        footer.row_group(n).total_byte_size for footer in footers for n in range(footer.num_row_groups)
    )
    return sum(footer.num_rows for footer in footers) <= ROWS and size <= BYTES


def _is_plain(schema: pa.Schema) -> bool:
    """Whether all types are the same everywhere; of times microseconds alone."""
    return all(
        any(same(of) for same in _SAME) or (types.is_timestamp(of) and of.unit == "us") for of in schema.types
    )
