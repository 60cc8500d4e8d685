"""The files of published windows: a file holds the windows that some neighbouring batches closed, and each
batch can be replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.instants import from_us, instant_us
from muntin.files.paths import AnyPath
from muntin.files.readable import readable_footer
from muntin.states.columns import BATCH
from muntin.states.derived_columns import wider
from muntin.states.frames import Ints, is_among
from muntin.states.sorted import instants
from muntin.store.contents import check_whole
from muntin.store.parquet import Encoding, read_parquet, write_named
from muntin.store.paths import batches_of_windows, windows_path
from muntin.store.store import File, Snapshot

FILE_ROWS = 2**18
"""So many windows fill a file."""
MOST_BATCHES = 512
"""A file holds the windows of at most so many batches, if it has more than `FEW` windows: a replaced batch
writes the others anew.
"""
FEW = 512


def stretches(rows: Ints) -> list[tuple[int, int]]:
    """Which neighbouring batches share a file, as (first, end), by the number of windows that each closed.

    Long sessions close few windows, of thousands of batches.

    >>> stretches(np.array([1, 2, 300_000, 5, 5]))
    [(0, 2), (2, 3), (3, 5)]
    >>> stretches(np.repeat([0, 1], [2_000, 600]))
    [(0, 2512), (2512, 2600)]
    """
    spans, first, held = list[tuple[int, int]](), 0, 0
    for at, count in enumerate(rows.tolist()):
        if at > first and (held + count > FILE_ROWS or (at - first >= MOST_BATCHES and held + count > FEW)):
            spans.append((first, at))
            first, held = at, 0
        held += count
    return [*spans, (first, len(rows))] if len(rows) else spans


def write_windows(
    table: pa.Table, folder: AnyPath, first_us: int, last_us: int, shard: int, keys: Sequence[str]
) -> File:
    """Write the windows that the batches from the first to the last closed: all columns of the published
    table, keys first: so a file says what its keys were (`key_columns`).
    """
    names = sorted(table.column_names, key=lambda name: name not in keys)
    return File(
        **write_named(
            table.select(names),
            folder,
            partial(windows_path, first_us, last_us, shard),
            Encoding([*keys, BATCH], ranges=True),
        )
    )


def key_columns(names: Sequence[str]) -> set[str]:
    """The keys among the columns of a file with windows: the columns before the bounds.

    >>> key_columns(["city", "window_start", "window_end", "n"])
    {'city'}
    """
    return {*names[: names.index("window_start")]}


def replaced_windows(
    folder: AnyPath, files: Sequence[File], starts: Ints, published_starts: Ints, keys: Sequence[str]
) -> tuple[list[File], list[File]]:
    """The files of a table that hold windows of some batches, ascending; and new files with their remaining
    windows.

    `published_starts`: of all batches that windows were published from, ascending.
    """
    old, rest = list[File](), list[File]()
    for file, first, last in files_over(files, starts):
        others = within(published_starts, first, last)
        remaining_windows = None
        if not is_among(others, starts).all():
            check_whole(folder, [file])
            table = read_parquet(f"{folder}/{file.path}")
            remaining_windows = table.filter(pa.array(~is_among(instants(table[BATCH]), starts)))
        if remaining_windows is None or len(remaining_windows) < file.rows:
            old.append(file)
        if remaining_windows is not None and 0 < len(remaining_windows) < file.rows:
            rest.append(write_windows(remaining_windows, folder, first, last, shard_of(file), keys))
    return old, rest


def windows_from(folder: AnyPath, files: Sequence[File], first_us: int, keys: Sequence[str]) -> list[File]:
    """New files with the windows of some files that batches from a start on closed."""
    rest = list[File]()
    for file in files:
        _, last = batches_of_windows(file.path) or (0, first_us - 1)
        if last >= first_us:
            check_whole(folder, [file])
            table = read_parquet(f"{folder}/{file.path}")
            later_windows = table.filter(pa.array(instants(table[BATCH]) >= first_us))
            rest += (
                [write_windows(later_windows, folder, first_us, last, shard_of(file), keys)]
                if len(later_windows)
                else []
            )
    return rest


def shard_of(file: File) -> int:
    """The number of a file's shard, as its path says."""
    return int(file.path.partition("/")[2].partition("_")[0])


def in_types(folder: AnyPath, files: Sequence[File], schema: pa.Schema, keys: Sequence[str]) -> list[File]:
    """Files of windows with the types of a schema; a file with a value that does not go into its type stays
    as it is.
    """
    return [_in_types(folder, file, schema, keys) for file in files]


def _in_types(folder: AnyPath, file: File, schema: pa.Schema, keys: Sequence[str]) -> File:
    check_whole(folder, [file])
    table = read_parquet(f"{folder}/{file.path}")
    types = {each.name: each.type for each in schema}
    try:
        wide = pa.table(
            {each.name: wider(table[each.name], types.get(each.name, each.type)) for each in table.schema}
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return file
    first, last = batches_of_windows(file.path) or (0, -1)
    return write_windows(wide, folder, first, last, shard_of(file), keys)


def files_over(files: Sequence[File], starts: Ints) -> list[tuple[File, int, int]]:
    """The files of a table that may hold windows of some batches, with the starts of their first and last
    batch.

    `starts`: of the batches, ascending.
    """
    held = [(*batches, file) for file in files if (batches := batches_of_windows(file.path))]
    firsts, lasts = (np.array([each[at] for each in held], np.int64) for at in (0, 1))
    over = np.searchsorted(starts, firsts) < np.searchsorted(starts, lasts, side="right")
    return [(file, first, last) for first, last, file in (held[at] for at in np.flatnonzero(over).tolist())]


def within(ascending: Ints, first: int, last: int) -> Ints:
    """The instants from a first to a last, both among them."""
    return ascending[np.searchsorted(ascending, first) : np.searchsorted(ascending, last, side="right")]


def latest_end(folder: AnyPath, snapshot: Snapshot) -> datetime | None:
    """The latest end, from the footers of the files of the last batch: a later batch closes later windows."""
    last = max(
        (bounds[1] for file in snapshot.files if (bounds := batches_of_windows(file.path))), default=None
    )
    files = [
        file.path
        for file in snapshot.files
        if (bounds := batches_of_windows(file.path)) and bounds[1] == last
    ]
    footers = [pq.read_metadata(readable_footer(f"{folder}/{path}")) for path in files]
    ends = [
        footer.row_group(group).column(footer.schema.names.index("window_end")).statistics.max
        for footer in footers
        for group in range(footer.num_row_groups)
    ]
    return from_us(instant_us(max(ends), "window_end")) if ends else None
