"""Addresses of some rows of a file: a table of Delta marks rows as deleted and leaves them where they are.

    a.parquet#without=0.deletion_vector_61d1.bin@1            the rows that no vector deletes
    a.parquet#only=0.deletion_vector_7c20.bin@1               the rows that a vector deletes
    a.parquet#only=0.deletion_vector_7c20.bin@1&not=i.ZDQ5    of these, the rows that an older vector does not

    a.parquet#in/city=Graz/day=2024-05-01/                    the rows of a partition that no folder names

A vector is named by the folder that it lies in (how many folders above the file), its path from there and
its place in its file; or it is part of the log, and stands there itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ROW = "file_row_number"
"""DuckDB's name for the number of a row in its Parquet file, from 0."""
FILE_NUMBER = "file_index"
"""DuckDB's name for the number of a row's file among the files that it reads, from 0."""
_ROWS = re.compile(r"(.*?)(?:#(?:without|only)=[^/#]*)?(?:#in/[^#]*/)?", re.DOTALL)


def file_of(path: str) -> str:
    """The file of an address.

    >>> rows = ("", "#without=i.ZDQ5", "#only=i.Z#in/d=1/", "#in/d=1/")
    >>> {file_of(f"/a#in/b#c.parquet{each}") for each in rows}
    {'/a#in/b#c.parquet'}
    """
    match = _ROWS.fullmatch(path) if "#" in path else None
    return match[1] if match else path


def in_part(paths: Iterable[str]) -> bool:
    """Whether some address says more than its file: the rows that are meant, or their partition."""
    return any(file_of(path) != path for path in paths)
