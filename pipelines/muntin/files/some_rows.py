"""Addresses of some rows of a file: a table of Delta marks rows as deleted and leaves them where they are.

    a.parquet#without=0.deletion_vector_61d1.bin@1            the rows that no vector deletes
    a.parquet#only=0.deletion_vector_7c20.bin@1               the rows that a vector deletes
    a.parquet#only=0.deletion_vector_7c20.bin@1&not=i.ZDQ5    of these, the rows that an older vector does not

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
_ROWS = re.compile(r"(.*)#(?:without|only)=[^/#]*", re.DOTALL)


def file_of(path: str) -> str:
    """The file of an address.

    >>> file_of("/lake/a#b/a.parquet#without=i.ZDQ5"), file_of("/lake/a#b/a.parquet")
    ('/lake/a#b/a.parquet', '/lake/a#b/a.parquet')
    """
    match = _ROWS.fullmatch(path) if "#" in path else None
    return match[1] if match else path


def in_part(paths: Iterable[str]) -> bool:
    """Whether of some file not all rows are meant, so that its footer counts too many."""
    return any(file_of(path) != path for path in paths)
