"""Expiry marks: a file without rows whose name says before which batch a table has lost its rows, as the
definition's `retain` says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muntin.definition.instants import label, of_label
from muntin.store.parquet import write_named
from muntin.store.store import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from muntin.files.paths import AnyPath

_NAME = re.compile(r"expired-(?P<before>[^/-]+)-[0-9a-f]{16}\.parquet")


def write_mark(folder: AnyPath, schema: pa.Schema, before_us: int) -> File:
    """Write the expiry mark of a table with these columns: rows of batches that start before an instant are
    gone.
    """
    no_rows = schema.remove_metadata().empty_table()
    written = write_named(no_rows, folder, lambda digest: f"expired-{label(before_us)}-{digest}.parquet")
    return File(written["path"], written["size"], written["rows"])


def marks(files: Iterable[File]) -> Sequence[File]:
    """The expiry marks among the files of a table."""
    return [file for file in files if is_mark(file.path)]


def is_mark(path: str) -> bool:
    """Whether a file of a table is an expiry mark."""
    return _NAME.fullmatch(path) is not None


def carried_on(folder: AnyPath, schema: pa.Schema, files: Iterable[File]) -> tuple[list[File], list[File]]:
    """The expiry marks to add and to remove so that a table which takes other columns keeps its mark."""
    old = marks(files)
    before_us = expired_before(old)
    new = [] if before_us is None else [write_mark(folder, schema, before_us)]
    had, have = {file.path for file in old}, {file.path for file in new}
    return [file for file in new if file.path not in had], [file for file in old if file.path not in have]


def expired_before(files: Iterable[File]) -> int | None:
    """The start of the first batch that has kept its rows, microseconds; None while all have."""
    matches = (_NAME.fullmatch(file.path) for file in marks(files))
    return max((of_label(each["before"]) for each in matches if each), default=None)
