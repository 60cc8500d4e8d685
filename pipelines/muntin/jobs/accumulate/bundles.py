"""Bundles: small splits of neighbouring batches that are read together.

The rules for bundles; nothing is read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.jobs.accumulate.shares import Split
    from muntin.sources.listing import SourceFile
    from muntin.states.frames import Ints

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
        """The paths of all files, in order."""
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
        """The places of rows: numbers of the file in the bundle and in its split, and of the row in the file,
        all from 0.
        """
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
