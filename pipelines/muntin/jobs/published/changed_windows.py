"""The windows that a publication changes, from the files that it replaces and the files that it brings."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.jobs.published.changes import Changes, compared
from muntin.states.columns import BATCH
from muntin.states.frames import is_among
from muntin.states.sorted import instants
from muntin.store.parquet import read_parquet
from muntin.store.paths import batches_of_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath
    from muntin.jobs.published.window_tables import Published
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.store.store import File

MOST = 4_000_000  # windows that one process reads and compares in some seconds


def changed_windows(
    bound: Bound, window: str, now: Published, old: Sequence[File], new: Sequence[File], starts: Ints
) -> Changes | None:
    """The windows that differ, of batches that were published before; None where no file differs.

    A file's name is its content, so that only files of other names are read. More than `MOST` windows, and
    files that cannot be read, are not compared, only counted; nor are windows that other columns told apart.
    `old`, `new`: below the window's table, the files to be replaced, and files with windows derived anew.
    What a file to be replaced holds of other batches than `starts`, ascending, is written anew as it was, and
    not compared.
    """
    went, came = _but(old, new), _but(new, old)
    if not went and not any(_holds_one_of(file, now.starts) for file in came):
        return None
    kind = bound.windows[window]
    identity = tuple(dict.fromkeys((*bound.keys_of(window), *kind.order)))
    rows = sum(file.rows for file in (*went, *came))
    unknown = Changes(identity, pa.table({}), pa.table({}), (), rows)
    if rows > MOST:
        return unknown
    try:
        before, after = (_of_batches(table, starts) for table in _both(bound.table(now.table), went, came))
        # no window is another's successor
        if not {*identity} <= {*before.column_names} & {*after.column_names}:
            return unknown
        return _of_known(compared(before, after, identity=identity), now.starts)
    except (OSError, pa.ArrowException):  # an old file is gone or damaged: that is why it is replaced
        return unknown


def _holds_one_of(file: File, starts: Ints) -> bool:
    """Whether a file may hold windows of a known batch."""
    first, last = batches_of_windows(file.path) or (0, -1)
    return bool(np.searchsorted(starts, first) < np.searchsorted(starts, last, side="right"))


def _but(files: Sequence[File], others: Sequence[File]) -> list[File]:
    paths = {file.path for file in others}
    return [file for file in files if file.path not in paths]


def _both(folder: AnyPath, went: Sequence[File], came: Sequence[File]) -> tuple[pa.Table, pa.Table]:
    """The windows of both files, with the same columns where there is only one file."""
    tables_of_sides = [[read_parquet(f"{folder}/{file.path}") for file in files] for files in (went, came)]
    empty = next(table for tables in tables_of_sides for table in tables).schema.empty_table()
    before, after = (
        pa.concat_tables(tables or [empty], promote_options="permissive") for tables in tables_of_sides
    )
    return before, after


def _of_batches(windows: pa.Table, starts: Ints) -> pa.Table:
    """The windows that some batches closed."""
    own = is_among(instants(windows[BATCH]), starts)
    return windows if own.all() else windows.filter(pa.array(own))


def _of_known(changes: Changes, published_starts: Ints) -> Changes:
    """The changes without windows closed by a batch that was never published: such windows are not changed,
    they are new.
    """
    closed = changes.after[BATCH].cast(pa.int64()).fill_null(0).to_numpy()
    is_change = (np.array(changes.kinds) != "new") | is_among(closed, published_starts)
    if is_change.all():
        return changes
    rows = pa.array(np.flatnonzero(is_change))
    kinds = tuple(compress(changes.kinds, is_change.tolist()))
    return replace(changes, before=changes.before.take(rows), after=changes.after.take(rows), kinds=kinds)
