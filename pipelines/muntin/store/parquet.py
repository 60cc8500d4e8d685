"""Parquet files that are named by their content: write them, check them.

Tables in the footers of Parquet files: facts that ride in the commit of the rows they tell of.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import StateError
from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath
from muntin.files.readable import opened, readable_footer, size_and_footer
from muntin.states.column_ranges import RANGES, named_without_nan, ranges_of
from muntin.states.derived_columns import optional, required_where_whole
from muntin.store.contents import digest_of_file, problem_of
from muntin.store.disk import draft_of, write_whole
from muntin.store.paths import DIGEST_BYTES, digest_of

# to wait for threads takes longer than a small table
_WRITTEN = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)


def text_of(table: pa.Table) -> str:
    """A table as text for a footer:

    Arrow's stream format, in base64, since readers take footers for UTF-8.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_WRITTEN) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def table_of(text: str | bytes) -> pa.Table:
    """The table from the text of `text_of`."""
    return pa.ipc.open_stream(base64.b64decode(text), options=_READ).read_all()


def footer(path: str) -> dict[str, str]:
    """The texts in the footer of a file."""
    texts = pq.read_metadata(readable_footer(path)).metadata or {}
    return {key.decode(): value.decode(errors="replace") for key, value in texts.items()}


ROW_GROUP = 2**16
STATES_IN_A_GROUP = 2**14
"""A task of finalize reads, of every file of states, the row groups that hold its keys. The more files a
batch has, the fewer rows of each are a task's: large groups would hold mostly those of others.
"""
COMPRESSION = "snappy"


# bytes of a table that is not encoded in memory; bytes that are written at once
_LARGE, _BUFFER = 2**24, 2**20


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the columns of a file are encoded.

    Attributes:
        dictionary: columns with few distinct values: stored as numbers into a list of them.
        group: so many rows are stored, and read, together.
        required: whether columns without nulls have none by their type: it is not stored of each row that
            there is a value. Who reads several such files makes all types alike; see `optional`.
        ranges: whether the footer has the ranges that Delta's log is to have.
        chosen_by: the columns by whose values rows are chosen: the footer has the least and the greatest of
            each group; None: all.
    """

    dictionary: Sequence[str] = ()
    group: int = ROW_GROUP
    required: bool = False
    chosen_by: Sequence[str] | None = None
    ranges: bool = False


AS_USUAL = Encoding()


def states_encoding(few: Sequence[str], chosen_by: Sequence[str]) -> Encoding:
    """How the columns of states are encoded.

    `few`: columns with few distinct values; `chosen_by`: as in `Encoding`.
    """
    return Encoding(few, STATES_IN_A_GROUP, required=True, chosen_by=chosen_by)


def encoded(table: pa.Table, how: Encoding = AS_USUAL) -> pa.Buffer:
    """A table as the bytes of a Parquet file.

    Whole numbers and instants are stored as differences, in less time and room.
    """
    sink = pa.BufferOutputStream()
    _encode(table, how, sink)
    return sink.getvalue()


def _encode(table: pa.Table, how: Encoding, sink: pa.NativeFile) -> None:
    table = _without_ranges(required_where_whole(table) if how.required else table)
    codes = {
        each.name: "DELTA_BINARY_PACKED"
        for each in table.schema
        if each.name not in how.dictionary
        and (pa.types.is_integer(each.type) or pa.types.is_temporal(each.type))
    }
    chosen = named_without_nan(table) if how.ranges else how.chosen_by
    with pq.ParquetWriter(
        sink,
        table.schema,
        compression=COMPRESSION,
        use_dictionary=list(how.dictionary) or False,
        column_encoding=codes or None,
        write_statistics=True if chosen is None else list(chosen),
        write_page_checksum=True,
    ) as writer:
        writer.write_table(table, row_group_size=how.group)
        if how.ranges and (ranges := ranges_of(table)):
            writer.add_key_value_metadata({RANGES.decode(): ranges.decode()})


def _without_ranges(table: pa.Table) -> pa.Table:
    """A table without the ranges of the file that it was read from: rows may be gone since."""
    texts = table.schema.metadata or {}
    return (
        table.replace_schema_metadata({key: text for key, text in texts.items() if key != RANGES})
        if RANGES in texts
        else table
    )


def write_named(
    table: pa.Table, folder: AnyPath, name: Callable[[str], str], how: Encoding = AS_USUAL
) -> dict[str, Any]:
    """Write a table, as `encoded`, to a path that names its content. A file that exists at this path is left
    as it is.

    Result: path (below `folder`), size (bytes) and rows.
    """
    if table.nbytes >= _LARGE and not isinstance(folder, ObjectPath):
        path, size = _write_large(table, folder, name, how)
        return {"path": path, "size": size, "rows": len(table)}
    content = encoded(table, how)
    path = name(digest_of(memoryview(content)))
    target = folder / path
    if not _exists(target, content.size):
        write_whole(target, memoryview(content))
    return {"path": path, "size": content.size, "rows": len(table)}


def _write_large(
    table: pa.Table, folder: AnyPath, name: Callable[[str], str], how: Encoding
) -> tuple[str, int]:
    """Path and size of a file encoded to the disk: in memory it would take twice its size while it grows."""
    with draft_of(folder / name("0" * 2 * DIGEST_BYTES)) as draft:
        with pa.BufferedOutputStream(pa.OSFile(str(draft), "wb"), _BUFFER) as sink:
            _encode(table, how, sink)
        with draft.open("rb") as content:
            path = name(digest_of_file(content))
        size, target = draft.stat().st_size, folder / path
        if _exists(target, size):
            draft.unlink()
        else:
            draft.replace(target)  # type: ignore[arg-type]
        return path, size


@singledispatch
def _exists(target: AnyPath, size: int) -> bool:
    """Whether the file exists and is whole; if so, it is made young, so that vacuum leaves it."""
    try:
        same = target.stat().st_size == size and problem_of(target) is None
        if same:
            os.utime(str(target))
    except OSError:
        return False
    return same


@_exists.register(ObjectPath)
def _(_target: ObjectPath, _size: int) -> bool:
    """Always False: writing an object again is one request, and makes it young."""
    return False


def read_parquet(place: str) -> pa.Table:
    """All rows of a file; every type has nulls."""
    with opened(place) as file:
        table = file.read(use_threads=file.metadata.num_row_groups > 1)
    return pa.Table.from_arrays(table.columns, schema=optional(table.schema))


def checked_footer(path: AnyPath, size: int) -> pq.FileMetaData:
    """The footer of a file that is whole, by its size and this footer. deltalake would accept a truncated
    file.
    """
    try:
        actual_size, footer = size_and_footer(path)
        if actual_size == size:
            return pq.read_metadata(footer)
        problem = f"{actual_size} bytes instead of {size}"
    except (OSError, pa.ArrowInvalid) as wrong:
        problem = str(wrong)
    raise StateError(f"{path} is not whole ({problem}); nothing was committed, run the batch again")
