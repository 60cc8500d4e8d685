"""Writing and checking Parquet files: named by their content, statistics from the footer."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    pq.write_table(table, sink, compression=COMPRESSION, row_group_size=ROW_GROUP, use_dictionary=dictionary, write_statistics=True)
    return sink.getvalue()


def write_named(table: pa.Table, folder: str, name: Callable[[str], str], *, dictionary: list[str] | bool = False) -> dict[str, Any]:
    """Write a table where its content says; a file that is there already is the same one.

    Returns:
        path (below `folder`), size, rows, and statistics as Delta wants them.
    """
    content = encoded(table, dictionary=dictionary)
    path = name(digest_of(memoryview(content)))
    write_bytes(Path(folder) / path, content)
    return {"path": path, "size": content.size, "rows": len(table), "stats": statistics(pq.read_metadata(pa.BufferReader(content)))}


def write_bytes(target: Path, content: pa.Buffer) -> None:
    """Write through a temporary file, so that the name never stands for half a content.

    Raises:
        StateError: no space, or no permission.
    """
    if target.exists() and target.stat().st_size == content.size:
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(memoryview(content))
        partial.rename(target)
    except OSError as wrong:
        partial.unlink(missing_ok=True)
        raise StateError(_disk_help(target, wrong)) from wrong


def _disk_help(target: Path, wrong: OSError) -> str:
    if wrong.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"no space left to write {target}; free some or give the state another root. Nothing was published; run again"
    return f"cannot write {target}: {wrong.strerror}"


def statistics(metadata: pq.FileMetaData) -> str:
    """Delta's statistics of a file, from its footer: rows, and the range of integer and timestamp columns.

    Delta keeps milliseconds: ranges are widened to whole ones, so that no reader skips a file that it needs.
    """
    ranges = {}
    for at in range(metadata.num_columns):
        groups = [metadata.row_group(group).column(at) for group in range(metadata.num_row_groups)]
        known = [c.statistics for c in groups if c.statistics is not None and c.statistics.has_min_max]
        if known and len(known) == len(groups) and (spelled := _range(known)):
            ranges[groups[0].path_in_schema] = spelled
    low, high = ({column: pair[end] for column, pair in ranges.items()} for end in (0, 1))
    return json.dumps({"numRecords": metadata.num_rows, "minValues": low, "maxValues": high, "nullCount": {}})


def _range(known: list[pq.Statistics]) -> tuple[Any, Any] | None:
    low, high = min(s.min for s in known), max(s.max for s in known)
    if isinstance(low, int) and not isinstance(low, bool):
        return low, high
    if hasattr(low, "tzinfo") and getattr(low, "tzinfo", None) is not None:
        return _milliseconds(low, 0), _milliseconds(high, 999)
    return None


def _milliseconds(moment: Any, up_us: int) -> str | None:  # noqa: ANN401 - pandas' or Python's timestamp
    from datetime import UTC, timedelta

    try:
        moved = moment.astimezone(UTC) + timedelta(microseconds=up_us)
    except OverflowError:
        return None
    return f"{moved.year:04d}-{moved:%m-%dT%H:%M:%S}.{moved.microsecond // 1000:03d}Z"


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
