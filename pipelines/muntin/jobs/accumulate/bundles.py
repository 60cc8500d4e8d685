"""Bundles: small splits of neighbouring batches that are read together; and small files of batches that a
task read separately become files that the batches share, before they are committed.

A bulk run over many small batches leaves few files: also of CSV, JSON, windows of an upstream and rows to be
deduplicated, which are not read together. Versions and rows of batches stay; the next vacuum removes the
small files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from muntin.jobs.accumulate.shares import Share, Split, WrittenFile
from muntin.sources.listing import SourceFile
from muntin.states.derived_columns import together
from muntin.states.frames import Ints
from muntin.states.sorted import by_key
from muntin.store.batch_facts import batches_of
from muntin.store.parquet import read_parquet
from muntin.store.paths import StatesPath, parse_states_path
from muntin.store.shared_files import write_shared
from muntin.store.store import File

SMALL = 2**18
"""Bytes of a split that is read with others.

All its columns are read then; of a larger split it is faster to read only those in use.
"""
MOST_BATCHES = 512
MOST_BYTES = 32 * SMALL
MOST_ROWS = 2**17
"""So few that DuckDB keeps all groups in one hash table: it then adds the values of each state in the order
of the rows.
"""


class Seen(NamedTuple):
    """A split, and what is known of its files before their rows are read.

    Attributes:
        split: the split.
        files: as they are.
        rows: of each file, the rows of the batch alone.
        columns: a number; splits with the same number have files with the same columns and types.
        share: bytes of the files that are the split's own, where other batches share them; None: all.
    """

    split: Split
    files: Sequence[SourceFile]
    rows: Sequence[int]
    columns: int
    share: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the split."""
        return sum(file.size for file in self.files) if self.share is None else self.share


class Bundle(NamedTuple):
    """Splits that are read together.

    All have files with the same columns; each is the only one of its batch; batches ascend.
    """

    parts: Sequence[Seen]

    @property
    def paths(self) -> list[str]:
        return [path for part in self.parts for path in part.split.paths]

    @property
    def starts(self) -> Ints:
        """The starts of the batches' intervals, microseconds."""
        return np.array([part.split.batch_us for part in self.parts], np.int64)

    @property
    def ends(self) -> Ints:
        """The ends of the batches' intervals, microseconds."""
        return np.array([part.split.end_us for part in self.parts], np.int64)

    @property
    def rows(self) -> Ints:
        """The number of rows of each batch."""
        return np.array([sum(part.rows) for part in self.parts], np.int64)

    def place(self, start_us: Ints, row_in_split: Ints) -> tuple[Ints, Ints, Ints]:
        """Numbers of rows: of the file in the bundle and in its split, and of the row in the file."""
        batch = np.searchsorted(self.starts, start_us)
        ends = np.cumsum([count for part in self.parts for count in part.rows])
        row = (np.cumsum(self.rows) - self.rows)[batch] + row_in_split
        file = np.searchsorted(ends, row, side="right")
        counts = np.array([len(part.rows) for part in self.parts])
        return file, file - (np.cumsum(counts) - counts)[batch], row - np.append(0, ends)[file]


def bundles(seen: Sequence[Seen | None]) -> Iterator[range]:
    """Cut the splits of a share into stretches; the splits of a stretch may be read together.

    None: a split to be read alone.
    """
    begin, size, rows = 0, 0, 0
    for at, one in enumerate(seen):
        more_bytes, more_rows = (one.size, sum(one.rows)) if one else (0, 0)
        full = at - begin == MOST_BATCHES or size + more_bytes > MOST_BYTES or rows + more_rows > MOST_ROWS
        if at > begin and (full or not _may_follow(seen[at - 1], one)):
            yield range(begin, at)
            begin, size, rows = at, 0, 0
        size, rows = size + more_bytes, rows + more_rows
    if seen:
        yield range(begin, len(seen))


def _may_follow(before: Seen | None, one: Seen | None) -> bool:
    if before is None or one is None:
        return False
    return before.columns == one.columns and before.split.batch_us < one.split.batch_us


def gathered(share: Share, table: str, files: Sequence[WrittenFile]) -> list[WrittenFile]:
    """The files of a table, batches ascending, with small neighbours put together.

    `table`: of a frame set, or the quarantine.
    """
    whole = {split.batch_us for split in share.splits if split.only}
    alone = {
        path.first_us
        for file in files
        if not isinstance(path := parse_states_path(file["path"]), StatesPath) or path.batch_us not in whole
    }
    return put_together(share, table, files, alone)


def put_together(
    share: Share, table: str, files: Sequence[WrittenFile], apart: Collection[int]
) -> list[WrittenFile]:
    """The files of whole batches by batch and split, small neighbours as one file.

    `apart`: first batches of files that stay as they are.
    """
    ascending = sorted(files, key=_place)
    batches = [[*of_batch] for _, of_batch in groupby(ascending, lambda file: _place(file)[0])]
    return [file for near in _near_files(batches, apart) for file in _shared(share, table, near)]


def _place(file: WrittenFile) -> tuple[int, str]:
    return parse_states_path(file["path"]).first_us, file["path"]


def _near_files(batches: Sequence[list[WrittenFile]], apart: Collection[int]) -> Iterator[list[WrittenFile]]:
    """Files that become one; files of the same batch stay together."""
    near: list[list[WrittenFile]] = []
    for files in batches:
        small = _place(files[0])[0] not in apart and all(
            file["size"] < SMALL and not file.get("wider") for file in files
        )
        full = len(near) == MOST_BATCHES or sum(file["size"] for file in chain(*near, files)) > MOST_BYTES
        if near and (full or not small):
            yield [*chain(*near)]
            near = []
        if small:
            near.append(files)
        else:
            yield from ([file] for file in files)
    if near:
        yield [*chain(*near)]


def _shared(share: Share, table: str, files: Sequence[WrittenFile]) -> Sequence[WrittenFile]:
    """One file of a table in the place of several."""
    if len(files) == 1:
        return files
    folder = share.bound.table(table)
    pipeline = share.bound.pipeline
    rows = together([read_parquet(f"{folder}/{file['path']}") for file in files])
    written = [File(file["path"], file["size"], file["rows"]) for file in files]
    batches = batches_of(folder, written, pipeline.intervals.after)
    return [asdict(write_shared(by_key(rows, pipeline.keys), folder, batches, pipeline.keys))]
