"""Writing and checking Parquet files, named by their content."""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import StateError
from pipelines.store.paths import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

ROW_GROUP = 2**17
COMPRESSION = "snappy"


def encoded(table: pa.Table, *, dictionary: list[str] | bool = False) -> pa.Buffer:
    """A table as the bytes of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression=COMPRESSION, row_group_size=ROW_GROUP, use_dictionary=dictionary)
    return sink.getvalue()


def write_named(table: pa.Table, folder: str, name: Callable[[str], str], *, dictionary: list[str] | bool = False) -> dict[str, Any]:
    """Write a table where its content says; a file that is there already is the same one.

    Returns:
        path (below `folder`), size and rows.
    """
    content = encoded(table, dictionary=dictionary)
    path = name(digest_of(memoryview(content)))
    write_bytes(Path(folder) / path, content)
    return {"path": path, "size": content.size, "rows": len(table)}


def write_bytes(target: Path, content: pa.Buffer) -> None:
    """Write through a temporary file, so that the name never stands for half a content.

    Raises:
        StateError: no space, or no permission.
    """
    if target.exists() and target.stat().st_size == content.size:
        return
    partial = target.with_name(f".{target.name}.{uuid4().hex}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(memoryview(content))
        partial.rename(target)
    except OSError as wrong:
        with suppress(OSError):
            partial.unlink()
        raise StateError(_disk_help(target, wrong)) from wrong


def _disk_help(target: Path, wrong: OSError) -> str:
    if wrong.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"no space left to write {target}; free some or give the state another root. Nothing was published; run again"
    return f"cannot write {target}: {wrong.strerror}"


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
