"""The files of the tables of reports and verdicts.

Their names hold the range of batches; many small files become a larger file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from math import log

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import label, of_label
from muntin.files.paths import AnyPath
from muntin.store.parquet import Encoding, write_named
from muntin.store.reading import read_files
from muntin.store.store import Change, File, Store, Texts, after_conflicts

MANY = 32
"""So many files of a size become one: a row is written again once for each power of this number of rows."""
LARGE = 2**15
"""Files with so many rows stay as they are: who asks for a batch reads a part of one file."""
_TRIES = 20
_GROUP = 2**11  # rows that are read together
_NAME = re.compile(r"(?P<low>[^/_]+)_(?P<high>[^/_]+)_[0-9a-f]{16}\.parquet")


def write_reports(table: pa.Table, folder: AnyPath) -> File:
    """Write reports, whose column `batch` holds starts of batches (microseconds, UTC), to a new file."""
    ends = pc.min_max(table["batch"].cast(pa.int64())).as_py()
    low, high = label(ends["min"]), label(ends["max"])
    return File(
        **write_named(table, folder, lambda digest: f"{low}_{high}_{digest}.parquet", Encoding(group=_GROUP))
    )


def append(
    store: Store,
    name: str,
    rows: pa.Table,
    write: Callable[[pa.Table, AnyPath], File],
    texts: Texts,
    order: str,
) -> None:
    """Append rows to a table of a state; as soon as there are `MANY` files of a size, they become one.

    `write`: writes rows to a file of the folder. `order`: the column by which a larger file is sorted.
    """
    folder = store.root / name
    new = write(rows, folder)
    for attempt in after_conflicts(
        _TRIES, f"{folder}: other runs keep writing {name}; run again when they are done"
    ):
        with attempt:
            base = store.snapshot(name)
            if any(file.path == new.path for file in base.files):
                return
            small = crowd(base.files)
            old = [read_files(folder, replace(base, files=tuple(small))).sort_by(order)] if small else []
            large = [write(each, folder) for each in old]
            store.commit(name, base, Change(rows.schema, [new, *large], list(small), [], texts=texts))


def telling_of(files: Iterable[File], low_us: int, high_us: int) -> tuple[File, ...]:
    """The files that may tell of a batch that starts in `[low_us, high_us]`."""
    return tuple(
        file
        for file in files
        if (match := _NAME.fullmatch(file.path))
        and of_label(match["low"]) <= high_us
        and of_label(match["high"]) >= low_us
    )


def bounds_of(file: File) -> tuple[int, int] | None:
    """Starts of the first and the last batch that a file tells of; None if its name does not say."""
    match = _NAME.fullmatch(file.path)
    return (of_label(match["low"]), of_label(match["high"])) if match else None


def crowd(files: Iterable[File]) -> Sequence[File]:
    """Files to put together: as soon as there are `MANY` of a size, all of it; else none."""
    for _, alike in groupby(sorted((file for file in files if 0 < file.rows < LARGE), key=_size), _size):
        if len(files_of_size := list(alike)) >= MANY:
            return files_of_size
    return ()


def _size(file: File) -> int:
    return int(log(max(file.rows, 1), MANY) + 1e-9)
