"""Look-ups for a DataFrame of Spark: its rows are spread by key, and each task looks its rows up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.jobs.lookups.asked_rows import gathered, instants_of, keys_of, with_columns
from muntin.tasks.by_value import register

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from muntin.jobs.lookups.answers import Answers


def looked_up(rows: DataFrame, answers: Answers, at: str, prefix: str) -> DataFrame:
    """The rows with what is found for them, in no order. Rows of a key are of one task, which reads the windows of its keys.

    Raises:
        DefinitionError: a column is missing, of another type, or there already.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    keys = answers.then.keys
    none = rows.limit(0).toArrow()
    schema = with_columns(none, answers.of(keys_of(none, keys), instants_of(none, at)), prefix).schema
    register()

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in gathered(pa.Table.from_batches([batch]) for batch in batches):
            windows = answers.of(keys_of(piece, keys), instants_of(piece, at))
            yield from with_columns(piece, windows, prefix).combine_chunks().to_batches()

    spread = rows.repartition(*keys) if keys else rows
    return spread.mapInArrow(found, from_arrow_schema(schema, prefer_timestamp_ntz=True))
