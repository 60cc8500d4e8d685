"""Rows as a stream of Arrow: their types as files have them, and pieces for files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from blake3 import blake3
from pyarrow.parquet import write_table as write_parquet

from muntin.errors import MuntinError, SourceError

ROWS = 2**18
"""Of a file, at most. Another number, other sums of floats."""
_TEXTS = ("arrow.json", "arrow.uuid")
_PLAIN = {*map(type, (pa.null(), pa.string(), pa.binary(), pa.binary(1), pa.bool_(), pa.decimal128(1)))}


@contextmanager
def asking(call: str) -> Iterator[None]:
    """Name the call in the error of whatever a user's function raises."""
    try:
        yield
    except MuntinError as wrong:
        if not isinstance(wrong, SourceError):
            raise
        raise SourceError(f"{call}: {wrong}") from wrong
    except Exception as wrong:
        raise SourceError(
            f"{call} failed: {type(wrong).__name__}: {wrong}; mend the function, or what it reads"
        ) from wrong


def write_table(given: Any, folder: str) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - as above
    """Write the rows of a table into files of a folder; the path of each, and its bytes."""
    if given is None:
        raise SourceError(
            "it gives None, and a table is read as it is now; let it return rows, or an empty table"
        )
    with stream_of(given, "") as stream:
        for number, table in enumerate(pieces(stream, "")):
            written = BytesIO()
            write_parquet(table, written)
            content = written.getbuffer()
            path = Path(folder, f"{number:05d}_{blake3(content).hexdigest(length=8)}.parquet")
            path.write_bytes(content)
            yield str(path), len(content)


@contextmanager
def stream_of(given: Any, event_time: str) -> Iterator[pa.RecordBatchReader]:  # noqa: ANN401 - whatever has a stream
    """The stream of rows. `event_time`: "" of rows without one.

    Raises:
        SourceError: it has no stream; no column with event times, two columns of one name, or a column of a
            type that files cannot have.
    """
    if not hasattr(given, "__arrow_c_stream__"):
        lazy = "; collect() it first" if hasattr(given, "collect") else ""
        kind = f"{type(given).__module__}.{type(given).__qualname__}"
        raise SourceError(
            f"a {kind} has no stream of Arrow{lazy}; give a table of pyarrow, a frame of Polars or pandas, a"
            " relation of DuckDB, or None while the rows are not there"
        )
    with pa.RecordBatchReader.from_stream(given) as stream:
        names = stream.schema.names
        if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
            raise SourceError(f"two columns are called {twice!r}; rename one")
        if event_time and event_time not in names:
            raise SourceError(
                f"no column {event_time!r} (event_time) in its rows; there are {', '.join(names)}"
            )
        yield stream


def pieces(stream: pa.RecordBatchReader, event_time: str) -> Iterator[pa.Table]:
    """The rows in tables of `ROWS`, however they come; an empty table where there are no rows.

    Event times without a type, as an empty frame has them, are texts.
    """
    kinds = {each.name: stored_type(each.type, each.name) for each in stream.schema}
    if event_time and pa.types.is_null(kinds[event_time]):
        kinds[event_time] = pa.string()
    schema = pa.schema([*kinds.items()])
    held, count, given = list[pa.RecordBatch](), 0, False
    for batch in stream:
        held.append(batch)
        count += len(batch)
        while count >= ROWS:
            table = pa.Table.from_batches(held)
            yield _stored(table.slice(0, ROWS), schema)
            given, rest = True, table.slice(ROWS)
            held, count = rest.to_batches(), len(rest)
    if count or not given:
        yield _stored(pa.Table.from_batches(held, stream.schema), schema)


def _stored(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        _texts(column) if _extension(column.type) in _TEXTS else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema).combine_chunks()


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if _extension(column.type) == "arrow.json":
        return column.cast(column.type.storage_type).cast(pa.string())
    return pa.chunked_array([pa.array([value and str(value) for value in column.to_pylist()], pa.string())])


def _extension(kind: pa.DataType) -> str:
    return str(kind.extension_name) if isinstance(kind, pa.BaseExtensionType) else ""


def stored_type(kind: pa.DataType, name: str) -> pa.DataType:
    """The type by which a column is stored: the same values, plain and in UTC.

    Raises:
        SourceError: files of Parquet have no such type, or would be read as something else.
    """
    types, stored = pa.types, kind
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        stored = stored_type(kind.value_type, name)
    elif types.is_timestamp(kind):
        stored = pa.timestamp(kind.unit, "UTC" if kind.tz else None)
    elif types.is_large_string(kind) or types.is_string_view(kind) or _extension(kind) in _TEXTS:
        stored = pa.string()
    elif types.is_large_binary(kind) or types.is_binary_view(kind):
        stored = pa.binary()
    elif types.is_struct(kind):
        stored = pa.struct([(each.name, stored_type(each.type, f"{name}.{each.name}")) for each in kind])
    elif types.is_map(kind):
        stored = pa.map_(stored_type(kind.key_type, name), stored_type(kind.item_type, name))
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        stored = pa.list_(stored_type(kind.value_type, name))
    elif (
        not (types.is_primitive(kind) or type(kind) in _PLAIN)
        or types.is_duration(kind)
        or types.is_interval(kind)
    ):
        raise SourceError(
            f"column {name!r} is of type {kind}, which files of rows cannot have; give it as a number or a"
            " text"
        )
    return stored
