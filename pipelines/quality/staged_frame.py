"""The staged files as a Spark frame: cached while they are checked, with a number in every row to find it again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

ROW_NUMBER = "__muntin_row"
ONE_PARTITION_ROWS = 1_000_000
NO_GLOB = {"__globPaths__": "false"}


@contextmanager
def staged_frame(spark: SparkSession, files: Sequence[str], *, rows: int) -> Iterator[DataFrame]:
    """A frame with the files' columns and `ROW_NUMBER`, cached until the block ends.

    Up to a million rows are put into one partition: an aggregate over them is then one Spark job instead of two. Without
    files, the frame has no rows, and the number is its only column.
    """
    frame = spark.read.options(**NO_GLOB).parquet(*files) if files else spark.range(0).drop("id")
    if rows <= ONE_PARTITION_ROWS:
        frame = frame.coalesce(1)
    frame = frame.selectExpr("*", f"monotonically_increasing_id() as {ROW_NUMBER}").persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def fetch(frame: DataFrame, numbers: Collection[int]) -> dict[int, Mapping[str, object]]:
    """Row number -> row, for these numbers, in one Spark job. Instants are aware datetimes."""
    if not numbers:
        return {}
    listed = ", ".join(str(number) for number in sorted(numbers))
    rows = frame.where(f"{ROW_NUMBER} in ({listed})").toArrow().to_pylist()
    return {row.pop(ROW_NUMBER): row for row in rows}
