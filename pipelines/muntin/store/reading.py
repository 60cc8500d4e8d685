"""Reading the files of a snapshot.

Row groups of a Parquet file in an object store: the footer is fetched, then the groups that a condition may
need, and nothing else.

file     |  group 0  |  group 1  |  group 2  |  group 3  | footer |
fetched               ~~~~~~~~~~~~~~~~~~~~~~~              ~~~~~~~~
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, groupby
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from muntin.definition.relative_paths import is_object_store
from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath
from muntin.files.readable import footer_end, form
from muntin.states.derived_columns import following, footer_of, together
from muntin.store.contents import check_once, damaged, fetched, problem_of_size
from muntin.store.store import Snapshot

if TYPE_CHECKING:
    import pyarrow.dataset as ds

_AT_ONCE = 8  # files


def read_files(
    folder: AnyPath,
    snapshot: Snapshot,
    columns: Sequence[str] | None = None,
    condition: pc.Expression | None = None,
) -> pa.Table:
    """The rows of a table, read from the disk by Arrow itself. A file that lacks a column of the snapshot has
    nulls in it.

    A file system written in Python would do for reading, too; but Arrow's threads may still hold its buffers
    when a program ends, and then the program is aborted after its work is done
    (https://github.com/apache/arrow/issues/34314). `folder`: the folder of the table. `columns`: the columns
    to read; all of the snapshot's, if not given. `condition`: a condition on rows; row groups that cannot
    meet it are skipped.
    """
    try:
        dataset = _dataset(folder, snapshot, condition)
        return dataset.to_table(columns=None if columns is None else list(columns), filter=condition)
    except (OSError, pa.ArrowException) as wrong:
        raise damaged(folder, f"has a file that is gone or cannot be read ({wrong})") from wrong


def _dataset(
    folder: AnyPath, snapshot: Snapshot, condition: pc.Expression | None = None
) -> ds.FileSystemDataset:
    """The files of a snapshot, each with the size that the log and the content that its name says."""
    sizes = {f"{folder}/{file.path}": file.size for file in snapshot.files}
    check_once(sizes)
    return dataset_of([*sizes], snapshot.schema or pa.schema([]), condition, sizes)


def read_states(folder: AnyPath, snapshot: Snapshot) -> pa.Table:
    """The rows of a table of states, as its files hold them, or with every column; see
    `states.derived_columns`.
    """
    dataset = _dataset(folder, snapshot)
    return held_rows(dataset, dataset.schema.names)


def held_rows(
    dataset: ds.FileSystemDataset,
    columns: Sequence[str],
    condition: pc.Expression | None = None,
    *,
    use_threads: bool = True,
) -> pa.Table:
    """Some columns of states, in the order of their files: as the files hold them if all hold the same, else
    all of the columns.

    `dataset`: of `dataset_of`. `columns`: all columns of fields, and further columns. `condition`: on columns
    that are not of fields. `use_threads`: as Arrow has it.
    """
    import pyarrow.dataset as ds

    tables = []
    for footer, fragments in groupby(dataset.get_fragments(), lambda each: footer_of(each.physical_schema)):
        some = ds.FileSystemDataset(list(fragments), dataset.schema, dataset.format, dataset.filesystem)
        gone = following(pa.schema([], footer))
        rows = some.to_table(
            [name for name in columns if name not in gone], filter=condition, use_threads=use_threads
        )
        tables.append(rows.replace_schema_metadata(footer))
    return together(tables) if tables else dataset.to_table(list(columns), filter=condition)


def dataset_of(
    places: Sequence[str],
    schema: pa.Schema,
    condition: pc.Expression | None = None,
    sizes: Mapping[str, int] | None = None,
) -> ds.FileSystemDataset:
    """The rows of some Parquet files, in their order. With a condition, of an object store only the row
    groups that can meet it.

    `sizes`: place -> bytes that a file must have, and then the content that its name says, where it is
    fetched from an object store.
    """
    import pyarrow.dataset as ds  # where there is pandas, it imports that

    files, disk = form(), fs.LocalFileSystem()

    def fragments(place: str) -> list[ds.ParquetFileFragment]:
        if not is_object_store(place):
            return [files.make_fragment(place, disk)]
        size = sizes[place] if sizes else None
        return (
            [files.make_fragment(fetched(place, size))]
            if condition is None
            else _fetched(files, place, schema, condition, size)
        )

    if not any(map(is_object_store, places)):
        return ds.FileSystemDataset([*chain.from_iterable(map(fragments, places))], schema, files, disk)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return ds.FileSystemDataset(
            [*chain.from_iterable(threads.map(fragments, places))], schema, files, disk
        )


def _fetched(
    files: ds.ParquetFileFormat,
    place: str,
    schema: pa.Schema,
    condition: pc.Expression,
    size: int | None = None,
) -> list[ds.ParquetFileFragment]:
    """The row groups of a file in which a condition on the columns of a schema may be met, a fragment each,
    in the file's order.

    A fragment of several groups would give them in an order of its own, as `subset` does. What is not fetched
    is a hole in memory that was never written to, so that it takes none; the fragments do not reach there.

    `size`: the bytes that the file must have.
    """
    end, actual_size = footer_end(place)
    if problem := problem_of_size(actual_size, size):
        raise damaged(place, problem)
    if len(end) == actual_size:
        return [files.make_fragment(pa.BufferReader(end))]
    held = mmap.mmap(-1, actual_size)
    held[actual_size - len(end) :] = end
    file = pa.BufferReader(pa.py_buffer(held))
    whole = files.make_fragment(file)
    groups = sorted(group.id for group in whole.subset(condition, schema=schema).row_groups)
    if ranges := _joined(_range(whole.metadata, group) for group in groups):
        for (start, stop), content in zip(ranges, ObjectPath(place).parts(ranges), strict=True):
            held[start:stop] = content
    return [files.make_fragment(file, row_groups=[group]) for group in groups]


def _range(footer: pq.FileMetaData, group: int) -> tuple[int, int]:
    columns = [footer.row_group(group).column(at) for at in range(footer.num_columns)]
    starts = [min(filter(None, (each.dictionary_page_offset, each.data_page_offset))) for each in columns]
    return min(starts), max(
        start + each.total_compressed_size for start, each in zip(starts, columns, strict=True)
    )


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending ranges; touching ranges are merged.

    >>> _joined([(0, 3), (3, 5), (9, 10)])
    [(0, 5), (9, 10)]
    """
    out = list[tuple[int, int]]()
    for start, stop in ranges:
        if out and out[-1][1] == start:
            start = out.pop()[0]  # noqa: PLW2901
        out.append((start, stop))
    return out
