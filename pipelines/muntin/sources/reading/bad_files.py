"""Problems of a file as a whole: the found content, and the expected content; and checksums of pages, which
writers of Parquet may add (Spark does) and DuckDB does not look at.

A page has a header before it, in Thrift's compact protocol: its size is field 3, its CRC-32 field 4, of which
a writer has all or none.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.files.readable import readable_footer
from muntin.files.some_rows import file_of
from muntin.sources.reading.scan import files_sql
from muntin.sources.sessions.duckdb_session import said
from muntin.sources.sessions.plain_text import DamagedError, content, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath
    from muntin.sources.source import Source, Used


_EXPECTED = {
    **dict.fromkeys(("json", "envelopes"), "a file of JSON lines"),
    "parquet": "a Parquet file",
    "csv": "a CSV file",
    "sheet": "a file of Excel (.xlsx)",
}
_FRAME = b"PAR1"  # begins and ends a Parquet file


def file_problem(session: duckdb.DuckDBPyConnection, source: Source, path: str) -> str:
    """The problem of a file as a whole, as a sentence without its path; "" if it can be read, apart from
    single rows.
    """
    problem = _found(session, source, path_of(file_of(path)))
    expected = _EXPECTED[source.dialect.of or source.format]
    return f"{problem}; {expected} was expected" if problem else ""


def check_whole(source: Source, paths: Sequence[str], used: Used, rows: range | None) -> None:
    """Refuse what DuckDB reads without a word: CSV files of 0 bytes, as files without rows, and pages of
    Parquet with wrong checksums.

    An empty file of JSON lines is one. `used`, `rows`: as for `check_pages`.
    """
    if source.format == "parquet":
        check_pages(paths, used, rows)
    for path in paths if source.format == "csv" else ():
        with suppress(FileNotFoundError):  # which reading tells
            if not path_of(path).stat().st_size:
                raise SourceError(f"{path} is empty (0 bytes)")


def _found(session: duckdb.DuckDBPyConnection, source: Source, path: AnyPath) -> str:
    if path.is_dir():
        return "is a folder"
    if not path.stat().st_size:
        return "is empty (0 bytes)" if source.format != "json" else ""
    return _of_parquet(session, source, path) if source.format == "parquet" else _of_text(source, path)


def _of_parquet(session: duckdb.DuckDBPyConnection, source: Source, path: AnyPath) -> str:
    with path.open("rb") as file:
        first = file.read(len(_FRAME))
        size = path.stat().st_size
        file.seek(max(0, size - len(_FRAME)))
        last = file.read()
    if first != _FRAME:
        return f"begins with {first!r}"
    if last != _FRAME:
        return f"is cut off after {size:,} bytes"
    try:
        rows = f"read_parquet({files_sql(source, [str(path)])}, hive_partitioning = false)"
        session.execute(f"SELECT max(hash(COLUMNS(*))) FROM {rows}").fetchall()
        check_pages([str(path)], lambda _: True)
    except duckdb.Error as wrong:
        return f"is damaged ({said(wrong)})"
    except DamagedError as damaged:
        return damaged.problem
    return ""


def _of_text(source: Source, path: AnyPath) -> str:
    try:
        data = content(str(path), source.dialect.made_plain)
    except DamagedError as damaged:
        return damaged.problem
    from muntin.sources.reading.cut_csv import cut_csv
    from muntin.sources.reading.cut_rows import LONGEST

    is_csv = source.format == "csv"
    if is_csv and (not data or cut_csv(data[:LONGEST], source.separator, source.dialect) is None):
        return "has no header that can be read"
    return ""


_BEGIN = len(b"PAR1")
_FIRST = 64  # bytes that hold the first four fields of a header
_SIZE, _CRC = 3, 4
_INTEGERS, _BINARY, _STRUCT = (4, 5, 6), 8, 12
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Kinds of values that have one size, as true, false, a byte and a double -> bytes."""


def check_pages(paths: Sequence[str], used: Used, rows: range | None = None) -> None:
    """See that the pages of Parquet files are as they were written, where the writer has added checksums.

    `rows`: of the only path, the numbers of the rows that are read, whole row groups; None: all.
    """
    for path in dict.fromkeys(map(file_of, paths)):
        # which reading tells
        with suppress(FileNotFoundError, IsADirectoryError, PermissionError), opened(path, _FIRST) as file:
            file.seek(_BEGIN)
            # the first header stands at the begin of a file; where other bytes do, the footer tells
            with suppress(IndexError, ValueError):
                if _header(memoryview(file.read(_FIRST)), most=_CRC).keys() == {1, 2, _SIZE}:
                    continue
            _check(path, file, used, rows)


def _check(path: str, file: IO[bytes], used: Used, rows: range | None) -> None:
    """See that the pages of one file are as they were written, column by column."""
    with suppress(pa.ArrowException):  # which DuckDB explains
        footer = pq.read_metadata(readable_footer(path))
        first = 0
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            wanted = group.num_rows and (rows is None or rows.start <= first < rows.stop)
            first += group.num_rows
            for column in (group.column(at) for at in range(group.num_columns) if wanted):
                if used(column.path_in_schema):
                    begins = [at for at in (column.dictionary_page_offset, column.data_page_offset) if at]
                    file.seek(min(begins))
                    if not _is_whole(memoryview(file.read(column.total_compressed_size))):
                        where = f"column {column.path_in_schema!r}, row group {number},"
                        raise DamagedError(
                            path, f"a page of {where} has another checksum than its header says"
                        )


def _is_whole(column: memoryview) -> bool:
    """Whether each page of a column has its checksum, if it has one."""
    at = 0
    with suppress(IndexError, KeyError, ValueError):  # a header that cannot be read, which DuckDB explains
        while at < len(column):
            header = _header(column[at:])
            begin = at + header[0]
            at = at + header[0] + header[_SIZE]
            if _CRC in header and zlib.crc32(column[begin:at]) != header[_CRC] & 0xFFFFFFFF:
                return False
    return True


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
    if kind not in _SIZES:
        raise ValueError(kind)
    return at + _SIZES[kind]


def _integer(data: memoryview, at: int) -> tuple[int, int]:
    """A signed integer, seven bits a byte, and the place behind it."""
    value = shift = 0
    while (byte := data[at]) >= 0x80:  # noqa: PLR2004 - more follow
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    value |= byte << shift
    return (value >> 1) ^ -(value & 1), at + 1
