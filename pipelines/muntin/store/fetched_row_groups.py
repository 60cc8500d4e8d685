"""Row groups of a Parquet file in an object store: the footer is fetched, then the groups that a condition may need, and nothing else.

file     |  group 0  |  group 1  |  group 2  |  group 3  | footer |
fetched               ~~~~~~~~~~~~~~~~~~~~~~~              ~~~~~~~~
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.files.object_path import ObjectPath
from muntin.files.readable import footer_end

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow.dataset as ds
    import pyarrow.parquet as pq


def fetched_fragment(form: ds.ParquetFileFormat, place: str, schema: pa.Schema, condition: ds.Expression) -> ds.ParquetFileFragment:
    """The row groups of a file in which a condition on the columns of a schema may be met.

    What is not fetched is a hole in memory that nobody has written to, so that it takes none; the fragment does not reach there.

    Raises:
        FileNotFoundError: there is no such file.
    """
    end, size = footer_end(place)
    if len(end) == size:
        return form.make_fragment(pa.BufferReader(end))
    held = mmap.mmap(-1, size)
    held[size - len(end) :] = end
    file = pa.BufferReader(pa.py_buffer(held))
    whole = form.make_fragment(file)
    groups = [group.id for group in whole.subset(condition, schema=schema).row_groups]
    if ranges := _joined(_range(whole.metadata, group) for group in groups):
        for (start, stop), content in zip(ranges, ObjectPath(place).parts(ranges), strict=True):
            held[start:stop] = content
    return form.make_fragment(file, row_groups=groups)


def _range(footer: pq.FileMetaData, group: int) -> tuple[int, int]:
    """Where a row group begins and ends, in bytes."""
    columns = [footer.row_group(group).column(at) for at in range(footer.num_columns)]
    starts = [min(filter(None, (each.dictionary_page_offset, each.data_page_offset))) for each in columns]
    return min(starts), max(start + each.total_compressed_size for start, each in zip(starts, columns, strict=True))


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending ranges, those that touch as one.

    >>> _joined([(0, 3), (3, 5), (9, 10)])
    [(0, 5), (9, 10)]
    """
    out = list[tuple[int, int]]()
    for start, stop in ranges:
        if out and out[-1][1] == start:
            start = out.pop()[0]  # noqa: PLW2901
        out.append((start, stop))
    return out
