"""Checksums of pages, which writers of Parquet may add (Spark does) and DuckDB does not look at.

A page has a header before it, in Thrift's compact protocol: its size is field 3, its CRC-32 field 4, of which
a writer has all or none.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable_footer
from muntin.sources.sessions.plain_text import DamagedError, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BEGIN = len(b"PAR1")
_FIRST = 64  # bytes that hold the first four fields of a header
_SIZE, _CRC = 3, 4
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_INTEGERS = (4, 5, 6)


class _Page(NamedTuple):
    """A page: its begin in the bytes of its column, its size, and its checksum."""

    begin: int
    size: int
    crc: int | None


def check_pages(paths: Sequence[str], used: Callable[[str], bool], rows: range | None = None) -> None:
    """See that the pages of Parquet files are as they were written, where the writer has added checksums.

    `rows`: of the only path, the numbers of the rows that are read, whole row groups; None: all.
    """
    for path in paths:
        # which reading tells
        with suppress(FileNotFoundError, IsADirectoryError, PermissionError), opened(path, _FIRST) as file:
            file.seek(_BEGIN)
            if not _has_none(file.read(_FIRST)):
                _check(path, file, used, rows)


def _has_none(first: bytes) -> bool:
    """Whether the first header of a file, which stands at its begin, has no checksum.

    Where other bytes stand there, the footer tells.
    """
    with suppress(IndexError, ValueError):
        integers = _header(memoryview(first), most=_CRC)
        return integers.keys() == {1, 2, _SIZE}
    return False


def _check(path: str, file: IO[bytes], used: Callable[[str], bool], rows: range | None) -> None:
    """See that the pages of one file are as they were written, column by column."""
    with suppress(pa.ArrowException):  # which DuckDB explains
        footer, first = pq.read_metadata(readable_footer(path)), 0
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            wanted = rows is None or rows.start <= first < rows.stop
            first += group.num_rows
            for column in (group.column(at) for at in range(group.num_columns) if wanted):
                if used(column.path_in_schema):
                    begins = [at for at in (column.dictionary_page_offset, column.data_page_offset) if at]
                    file.seek(min(begins))
                    _check_column(
                        path,
                        f"column {column.path_in_schema!r}, row group {number},",
                        file.read(column.total_compressed_size),
                    )


def _check_column(path: str, where: str, data: bytes) -> None:
    view = memoryview(data)
    with suppress(IndexError, KeyError, ValueError):  # a header that cannot be read, which DuckDB explains
        for page in _pages(view):
            if (
                page.crc is not None
                and zlib.crc32(view[page.begin : page.begin + page.size]) != page.crc & 0xFFFFFFFF
            ):
                raise DamagedError(path, f"a page of {where} has another checksum than its header says")


def _pages(data: memoryview) -> Iterator[_Page]:
    at = 0
    while at < len(data):
        fields = _header(data[at:])
        page = _Page(at + fields[0], fields[_SIZE], fields.get(_CRC))
        yield page
        at = page.begin + page.size


def _header(data: memoryview, most: int = 2**15) -> dict[int, int]:
    """The integers of a struct by the numbers of their fields, up to `most`; 0: the bytes of the whole
    struct, if it was read to its end.

    IndexError, ValueError: the bytes are no struct.
    """
    integers, at, field = dict[int, int](), 0, 0
    while head := data[at]:
        delta, kind = divmod(head, 16)
        field, at = (field + delta, at + 1) if delta else _integer(data, at + 1)
        if field > most:
            return integers
        if kind in _INTEGERS:
            integers[field], at = _integer(data, at)
        else:
            at = _behind(data, at, kind)
    return integers | {0: at + 1}


def _behind(data: memoryview, at: int, kind: int) -> int:
    """The place behind a value that is no integer."""
    if kind == _BINARY:
        twice, at = _integer(data, at)
        return at + (2 * twice if twice >= 0 else -2 * twice - 1)  # a length is no signed integer
    if kind == _STRUCT:
        return at + _header(data[at:])[0]
    sizes = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}
    if kind not in sizes:
        raise ValueError(kind)
    return at + sizes[kind]


def _integer(data: memoryview, at: int) -> tuple[int, int]:
    """A signed integer, seven bits a byte, and the place behind it."""
    value = shift = 0
    while (byte := data[at]) >= 0x80:  # noqa: PLR2004 - more follow
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    value |= byte << shift
    return (value >> 1) ^ -(value & 1), at + 1
