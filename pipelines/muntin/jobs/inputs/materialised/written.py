"""Rows that Spark read: their cut and order, and the task that writes them to files of the state, named by
their content.

The rows alone decide cut and order, not the partitions, settings or cluster of Spark:

row -> bucket            by a hash of all its columns
rows of a bucket         in one partition, sorted by event time, then by all other columns
rows that are alike      in any order: they are equal
"""

from __future__ import annotations

import json
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import label
from muntin.errors import MuntinError
from muntin.store.parquet import write_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from muntin.files.paths import AnyPath

BATCH, BUCKET = "muntin_batch", "muntin_bucket"
BUCKETS = 8
"""Into so many files at least the rows of a batch are cut, and as many tasks may write it.

Another number, other sums of floats.
"""
ROWS = 2**18
"""Of a file, at most. Another number, other sums of floats."""


def reported(batches: Iterable[pa.RecordBatch], folder: AnyPath) -> Iterator[pa.RecordBatch]:
    """The outcome of `written`, as JSON in a column `outcome`; of an error of Muntin's its name and text."""
    try:
        for file in written(batches, folder):
            yield _outcome(file)
    except MuntinError as wrong:
        yield _outcome({"error": type(wrong).__name__, "text": str(wrong)})


def _outcome(outcome: Mapping[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([json.dumps(outcome)], pa.string())], ["outcome"])


def written(batches: Iterable[pa.RecordBatch], folder: AnyPath) -> Iterator[dict[str, Any]]:
    """Write rows, as `ordered` gives them, a file for each bucket of a batch, or several for a large bucket.

    Of each file `batch` (start of its interval), `path` (below the folder), `size` (bytes) and `rows`.
    """
    for batch_us, bucket, number, table in pieces(batches):
        name = partial(_named, f"{label(batch_us)}/{bucket:02d}-{number:05d}")
        yield {"batch": batch_us, **write_named(table, folder, name)}


def _named(start: str, digest: str) -> str:
    return f"{start}_{digest}.parquet"


def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, int, pa.Table]]:
    """Rows in pieces of at most `ROWS`: of each its batch, its bucket, its number in the bucket, and the
    rows.
    """
    of, number, held = (0, 0), 0, list[pa.RecordBatch]()
    for stretch in (stretch for batch in batches for stretch in _stretches(batch)):
        batch_us, bucket = stretch[BATCH][0].as_py(), stretch[BUCKET][0].as_py()
        if held and (batch_us, bucket) != of:
            yield *of, number, _table(held)
            held = []
        if (batch_us, bucket) != of:
            of, number = (batch_us, bucket), 0
        held.append(stretch)
        while sum(map(len, held)) > ROWS:
            rows = pa.Table.from_batches(held)
            yield *of, number, _table(rows.slice(0, ROWS).to_batches())
            held, number = rows.slice(ROWS).to_batches(), number + 1
    if held:
        yield *of, number, _table(held)


def _stretches(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of each bucket of each batch."""
    ends = pc.run_end_encode(batch[BATCH]).run_ends.to_pylist() if len(batch) else []
    more = pc.run_end_encode(batch[BUCKET]).run_ends.to_pylist() if len(batch) else []
    begin = 0
    for end in sorted({*ends, *more}):
        yield batch.slice(begin, end - begin)
        begin = end


def _table(held: list[pa.RecordBatch]) -> pa.Table:
    """Rows as they are stored: in one piece, without Spark's notes, and no word of the session's zone."""
    table = pa.Table.from_batches(held).drop_columns([BATCH, BUCKET])
    return table.cast(
        pa.schema([pa.field(each.name, in_utc(each.type)) for each in table.schema])
    ).combine_chunks()


def in_utc(kind: pa.DataType) -> pa.DataType:
    """A type with its instants in UTC, which are the same instants, and plain texts."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit, "UTC" if kind.tz else None)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return pa.string() if pa.types.is_large_string(kind) else pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, in_utc(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(in_utc(kind.key_type), in_utc(kind.item_type))
    return (
        pa.list_(in_utc(kind.value_type)) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind
    )


def ordered(frames: Sequence[tuple[int, DataFrame]], first: str) -> DataFrame:
    """The rows of some batches, rows of the same bucket and batch together in one partition and in order,
    with `BATCH` and `BUCKET`.

    `frames`: start of a batch -> its rows; all have the same columns. `first`: the column that rows are
    ordered by before all other columns.
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
    """The value that a column is hashed and ordered by: maps have no order, and texts may have an order of
    their own.
    """
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
