"""Staged files with few rows: the driver reads them and gives Spark their rows with the question, which
spares Spark several jobs.

Only where Spark would read the same: files of one schema, whose types are the same in Arrow, in Parquet and
in Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from muntin.files.readable import opened, readable_footer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

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
    """Whether all types are the same everywhere; instants and local times in microseconds are, other times
    are not.
    """
    return all(
        any(same(of) for same in _SAME) or (types.is_timestamp(of) and of.unit == "us") for of in schema.types
    )
