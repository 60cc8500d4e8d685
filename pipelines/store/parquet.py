"""Writing and checking Parquet files, named by their content."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import StateError
from pipelines.store.disk import write_whole
from pipelines.store.paths import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROW_GROUP = 2**17
COMPRESSION = "snappy"


def encoded(table: pa.Table, *, dictionary: Sequence[str] = (), differences: Sequence[str] = ()) -> pa.Buffer:
    """A table as the bytes of a Parquet file.

    Args:
        table: any.
        dictionary: columns of few values, which are numbered.
        differences: columns of integers near their neighbours, of which the differences are kept.
    """
    sink = pa.BufferOutputStream()
    codes = dict.fromkeys(differences, "DELTA_BINARY_PACKED")
    numbered = list(dictionary) if dictionary else False
    pq.write_table(table, sink, compression=COMPRESSION, row_group_size=ROW_GROUP, use_dictionary=numbered, column_encoding=codes or None)
    return sink.getvalue()


def write_named(
    table: pa.Table, folder: str, name: Callable[[str], str], *, dictionary: Sequence[str] = (), differences: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a table, as `encoded`, where its content says; a file that is there already is the same one.

    Returns:
        path (below `folder`), size and rows.

    Raises:
        StateError: no space, or no permission.
    """
    content = encoded(table, dictionary=dictionary, differences=differences)
    path = name(digest_of(memoryview(content)))
    target = Path(folder) / path
    if not _is_there(target, content.size):
        write_whole(target, memoryview(content))
    return {"path": path, "size": content.size, "rows": len(table)}


def _is_there(target: Path, size: int) -> bool:
    """Whether the file is there already; if so it is new from now on, so that nobody removes it for its age."""
    try:
        same = target.stat().st_size == size
        if same:
            os.utime(target)
    except OSError:
        return False
    return same


def check_file(path: Path, size: int) -> None:
    """See that a file is there whole: its size and its footer. deltalake would accept a truncated one.

    Raises:
        StateError: it is not.
    """
    try:
        if path.stat().st_size == size:
            pq.read_metadata(path)
            return
        found = f"{path.stat().st_size} bytes instead of {size}"
    except (OSError, pa.ArrowInvalid) as wrong:
        found = str(wrong)
    raise StateError(f"{path} is not whole ({found}); nothing was committed, run the batch again")
