"""The rows that a reader brings to a look-up, in pieces and in their order; and the same rows with the
columns of their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.instants import BEFORE_ALL
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import AnyPath, ascending, path_of
from muntin.files.readable import readable
from muntin.states.columns import INSTANT
from muntin.states.frames import Ints
from muntin.states.keys import contiguous

PIECE = 250_000
"""So many rows a thread looks up at once."""


def pieces(rows: Any) -> Iterator[pa.Table]:  # noqa: ANN401 - whatever speaks Arrow, or the path of files
    """The rows in their order, in tables of about `PIECE` rows; at least one table, which tells the columns.

    `rows`: anything with `__arrow_c_stream__` (pyarrow, pandas, Polars, DuckDB), a Parquet file, or a folder
    of Parquet files, whose rows are read in the order of their paths.
    """
    if isinstance(rows, str | Path):
        yield from gathered(_of_files(path_of(rows)))
        return
    if not hasattr(rows, "__arrow_c_stream__"):
        raise DefinitionError(
            f"rows: {type(rows).__name__} does not speak Arrow; give a table of pyarrow, pandas, Polars or"
            " DuckDB, a DataFrame of Spark, or the path of a Parquet file or of a folder of them"
        )
    with pa.RecordBatchReader.from_stream(rows) as reader:
        parts = (batch.slice(low, PIECE) for batch in reader for low in range(0, len(batch), PIECE))
        yield from gathered((pa.Table.from_batches([part]) for part in parts), reader.schema)


def parquet_files(place: AnyPath) -> list[AnyPath]:
    """A Parquet file, or the Parquet files below a folder, by path; hidden names are left out."""
    if place.is_file():
        return [place]
    paths = [
        path
        for path in place.glob("**/*.parquet")
        if not any(part[0] in "._" for part in str(path)[len(str(place)) + 1 :].split("/"))
    ]
    if not paths:
        raise SourceError(f"rows: there is no Parquet file at {place}")
    return ascending(paths)


def _of_files(place: AnyPath) -> Iterator[pa.Table]:
    for path in parquet_files(place):
        try:
            with pq.ParquetFile(readable(path), page_checksum_verification=True) as file:
                yield file.schema_arrow.empty_table()
                yield from (pa.Table.from_batches([batch]) for batch in file.iter_batches(PIECE))
        except (OSError, pa.ArrowException) as wrong:
            raise SourceError(f"rows: {path} cannot be read: {wrong}") from wrong


def gathered(tables: Iterable[pa.Table], schema: pa.Schema | None = None) -> Iterator[pa.Table]:
    """Tables joined until they have about `PIECE` rows.

    `schema`: of one table at least, if there is no row.
    """
    held: list[pa.Table] = [] if schema is None else [schema.empty_table()]
    rows, given = 0, False
    for table in tables:
        held.append(table)
        rows += len(table)
        if rows >= PIECE:
            yield _joined(held)
            held, rows, given = [], 0, True
    if rows or (held and not given):
        yield _joined(held)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(tables)
    except pa.ArrowInvalid as wrong:
        raise SourceError(f"rows: the files do not have the same columns: {wrong}") from wrong


def keys_of(rows: pa.Table, keys: Sequence[str]) -> list[pa.Array]:
    """The key columns."""
    return [contiguous(_column(rows, key, "the key of the windows")) for key in keys]


def instants_of(rows: pa.Table, at: str) -> Ints:
    """The instants of the rows, microseconds cut down; a timestamp without a zone is in UTC; `BEFORE_ALL` for
    null.

    An instant that microseconds of 64 bits do not hold is an error.
    """
    column = contiguous(_column(rows, at, "the instant of each row"))
    if not pa.types.is_timestamp(column.type):
        raise DefinitionError(
            f"at: column {at!r} is {column.type}; a look-up needs a timestamp in it, as timestamp[us, UTC]"
        )
    try:
        if column.type.unit == "ns":
            us = np.floor_divide(column.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), 1000)
        else:
            us = column.cast(INSTANT).view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as wrong:
        raise DefinitionError(
            f"at: column {at!r} has instants that microseconds do not hold: {wrong}"
        ) from wrong
    return np.where(np.asarray(column.is_null()), BEFORE_ALL, np.maximum(us, BEFORE_ALL + 1))


def _column(rows: pa.Table, name: str, what: str) -> pa.ChunkedArray:
    positions = rows.schema.get_all_field_indices(name)
    if len(positions) == 1:
        return rows.column(positions[0])
    if positions:
        raise DefinitionError(
            f"rows: {len(positions)} columns are called {name!r}, which is {what}; give each its own name"
        )
    raise DefinitionError(
        f"rows: there is no column {name!r}, {what}; there are"
        f" {', '.join(rows.column_names)}{did_you_mean(name, rows.column_names)}"
    )


def with_columns(rows: pa.Table, answers: pa.Table, prefix: str) -> pa.Table:
    """The rows with the columns of their answers behind their own; each name has the
    prefix, and must be new.
    """
    names = [f"{prefix}{name}" for name in answers.column_names]
    if twice := [name for name in names if name in rows.column_names]:
        raise DefinitionError(
            f"rows: there is a column {twice[0]!r} already, and the windows bring one of that name; give"
            ' prefix=, as prefix="day_"'
        )
    fields = [
        *rows.schema,
        *(field.with_name(name) for field, name in zip(answers.schema, names, strict=True)),
    ]
    return pa.Table.from_arrays(
        [*rows.columns, *answers.columns], schema=pa.schema(fields, rows.schema.metadata)
    )
