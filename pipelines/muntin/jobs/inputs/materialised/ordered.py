"""The cut and the order of rows that Spark read, decided by the rows alone: not by its partitions, its settings or its cluster.

row -> bucket            by a hash of all its columns
rows of a bucket         in one partition, sorted by event time, then by all other columns
rows that are alike      in any order: they are equal
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

BATCH, BUCKET = "muntin_batch", "muntin_bucket"
BUCKETS = 8
"""Into so many files at least the rows of a batch are cut, and as many tasks may write it. Another number, other sums of floats."""


def ordered(frames: Sequence[tuple[int, DataFrame]], first: str) -> DataFrame:
    """The rows of some batches, rows of the same bucket and batch together in one partition and in order.

    Args:
        frames: start of a batch -> its rows; all have the same columns.
        first: the column that rows are ordered by before all other columns.

    Returns:
        The rows with `BATCH` (start of the batch) and `BUCKET`.
    """
    rows = reduce(_joined, [_marked(start_us, frame) for start_us, frame in frames])
    fields = sorted(frames[0][1].schema.fields, key=lambda each: each.name != first)
    keys = [key for each in fields for key in _keys(each.name, each.dataType)]
    signs = [key for each in fields for key in _signs(each.name, each.dataType)]
    return rows.repartition(BATCH, BUCKET).sortWithinPartitions(BATCH, BUCKET, *keys, *signs)


def _joined(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionAll(other)


def _marked(start_us: int, frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    keys = [key for each in frame.schema.fields for key in _keys(each.name, each.dataType)]
    bucket = f.pmod(f.xxhash64(*keys), f.lit(BUCKETS)).cast("int")
    return frame.select("*", f.lit(start_us).cast("bigint").alias(BATCH), bucket.alias(BUCKET))


def _keys(name: str, kind: DataType) -> list[Column]:
    """The value that a column is hashed and ordered by: maps have no order, and texts may have an order of their own."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    column = f.col(quoted(name))
    if isinstance(kind, StringType):
        return [column.cast("binary")]
    return [f.to_json(f.struct(column))] if _has_no_order(kind) else [column]


def _has_no_order(kind: DataType) -> bool:
    return any(word in kind.simpleString() for word in ("map<", "variant"))


def _signs(name: str, kind: DataType) -> list[Column]:
    """The bits that separate 0.0 from -0.0, which are equal in Spark's order."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import DoubleType, FloatType

    return [f.atan2(f.col(quoted(name)), f.lit(-1.0))] if isinstance(kind, DoubleType | FloatType) else []


def quoted(name: str) -> str:
    """The name of a column as Spark's SQL has it."""
    return "`" + name.replace("`", "``") + "`"
