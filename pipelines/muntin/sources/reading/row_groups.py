"""A large Parquet file, cut between its row groups, so that several tasks share it.

part           0           |     1     |     2         the middle of a row group says which part has it
row groups   [    |      |   ] [    ] [  |     ]
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable_footer
from muntin.files.some_rows import ROW
from muntin.sources.source import Source


class Part(NamedTuple):
    """A part of a file: `number`, from 0, of `of` neighbouring parts of about the same size in bytes."""

    number: int
    of: int


def may_be_cut(source: Source) -> bool:
    """Whether tasks may share a file of a source.

    A file is read as a whole where a bad row concerns the whole file, or where rows of all files are
    compared.
    """
    whole = source.in_one_piece or source.order or source.batch_column
    return source.format == "parquet" and not whole and source.on_bad_file == "error"


def rows_of(path: str, part: Part) -> range | None:
    """The numbers of a part's rows in the file; None: all rows.

    The first part of a file that cannot be cut has all rows, the other parts have none: of a damaged file,
    for reading says what is wrong, or of a file with a column named `ROW`.
    """
    try:
        footer = pq.read_metadata(readable_footer(path))
    except (OSError, pa.ArrowException):
        return None if part.number == 0 else range(0)
    if ROW in (footer.schema.column(at).path.partition(".")[0].lower() for at in range(footer.num_columns)):
        return None if part.number == 0 else range(0)
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    return _cut([group.total_byte_size for group in groups], [group.num_rows for group in groups], part)


def _cut(sizes: list[int], rows: list[int], part: Part) -> range:
    """The rows of a part.

    >>> _cut([10, 10, 10, 90], [1, 1, 1, 9], Part(0, 2)), _cut([10, 10, 10, 90], [1, 1, 1, 9], Part(1, 2))
    (range(0, 3), range(3, 12))
    """
    middles = [end - size / 2 for end, size in zip(accumulate(sizes), sizes, strict=True)]
    first, last = (
        bisect_left(middles, sum(sizes) * number / part.of) for number in (part.number, part.number + 1)
    )
    return range(sum(rows[:first]), sum(rows[:last]))
