"""The object that Arrow reads a file from: a local file by its path, as fast as ever; a file of an object
store by its content.

Parquet files that Muntin wrote, opened so that each page is held against its checksum: what a disk changed
is an error, never data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.relative_paths import is_object_store
from muntin.files.object_path import ObjectPath
from muntin.files.some_rows import file_of

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow.dataset as ds

    from muntin.files.paths import AnyPath
_TAIL = 2**18  # bytes; the footers of nearly all files are shorter
_LENGTH = 8  # bytes at the end of a Parquet file: the length of its footer, and `PAR1`


def readable(place: str | Path | ObjectPath) -> str | pa.BufferReader:
    """A file for Arrow to read, all of it or much of it.

    A local file that is missing is Arrow's error, later.
    """
    return pa.BufferReader(ObjectPath(str(place)).readable()) if is_object_store(str(place)) else str(place)


def readable_footer(place: str | Path | ObjectPath) -> str | pa.BufferReader:
    """A Parquet file for Arrow to read its footer alone."""
    file = file_of(str(place))
    return pa.BufferReader(footer_end(file)[0]) if is_object_store(file) else file


def size_and_footer(place: Path | ObjectPath) -> tuple[int, str | pa.BufferReader]:
    """The size of a file in bytes, and what Arrow reads its footer from."""
    if not isinstance(place, ObjectPath):
        return place.stat().st_size, str(place)
    tail, size = footer_end(place.address)
    return size, pa.BufferReader(tail)


def footer_end(address: str) -> tuple[bytes, int]:
    """The end of a Parquet file in an object store that holds its footer, and the size of the file.

    https://parquet.apache.org/docs/file-format/
    """
    path = ObjectPath(address)
    tail, size = path.end(_TAIL)
    footer = int.from_bytes(tail[-_LENGTH:-4], "little") + _LENGTH if len(tail) >= _LENGTH else 0
    return path.end(footer) if len(tail) < footer <= size else (tail, size)


def opened(place: str | AnyPath | pa.Buffer | bytes, **how: Any) -> pq.ParquetFile:  # noqa: ANN401 - as pyarrow has them
    """A file, or its content in memory, to read; `how`: further arguments of `ParquetFile`.

    `pq.read_table` takes four times as long for a small file: it makes a dataset, and threads. A damaged
    footer is an `ArrowException` or a `ValueError` here, or other columns; a damaged page an `OSError` when
    it is read.
    """
    source = pa.BufferReader(place) if isinstance(place, pa.Buffer | bytes) else readable(place)
    return pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False, **how)


def form() -> ds.ParquetFileFormat:
    """The format of datasets of such files."""
    import pyarrow.dataset as ds  # where there is pandas, it imports that

    return ds.ParquetFileFormat(
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    )
