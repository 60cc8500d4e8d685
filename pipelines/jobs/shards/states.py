"""The states that a shard needs, read from the checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pipelines.definition.instants import from_us
from pipelines.errors import StateError
from pipelines.states.columns import BATCH, BATCH_POSITION, BUCKET, FRAME, INSTANT
from pipelines.states.keys import BUCKETS
from pipelines.store.contents import problem_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.jobs.shards.shard import Shard


def read_states(shard: Shard, folder: str, keep: Sequence[str] = ()) -> pa.Table:
    """The shard's states with `BATCH_POSITION`, in order of arrival. Row groups of other buckets and times are skipped.

    Args:
        shard: names the files, the times and the buckets of the states.
        folder: of the table.
        keep: the columns among `BATCH` and `BUCKET` that are also read.

    Raises:
        StateError: a file is gone or damaged.
    """
    _check_files(shard, folder)
    form, disk = ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
    fragments = [
        form.make_fragment(f"{folder}/{path}", disk, partition_expression=ds.field(BATCH_POSITION) == pa.scalar(at, pa.int64()))
        for path, at in shard.files
    ]
    schema = shard.schema.append(pa.field(BATCH_POSITION, pa.int64()))
    condition = (ds.field(FRAME) < _instant(shard.high_us)) & (
        (ds.field(FRAME) >= _instant(shard.low_us)) | (ds.field(BATCH_POSITION) >= shard.since)
    )
    if shard.count > 1:
        condition &= own_buckets(shard)
    columns = [name for name in schema.names if name not in (BATCH, BUCKET) or name in keep]
    return ds.FileSystemDataset(fragments, schema, form, disk).to_table(columns=columns, filter=condition, use_threads=False)


def own_buckets(shard: Shard) -> pc.Expression:
    """The condition that a row belongs to the shard, by its bucket."""
    bucket = ds.field(BUCKET)
    return (bucket >= _share(shard.number, shard.count)) & (bucket < _share(shard.number + 1, shard.count))


def _check_files(shard: Shard, folder: str) -> None:
    """Check the shard's share of the files: each file is checked by one shard, and what a shard refuses is refused for all."""
    for path, at in shard.files[shard.number :: shard.count]:
        if problem := problem_of(Path(folder, path)):
            start, end = (f"{from_us(shard.starts[place]):%Y-%m-%dT%H:%M:%S}" for place in (at, at + 1))
            raise StateError(
                f"the states of batch {start}Z are not whole: {folder}/{path} {problem}; "
                f"nothing was published; read the batch again: muntin run FILE --start {start} --end {end}"
            )


def _share(number: int, count: int) -> pa.Scalar:
    """The first bucket of a shard."""
    return pa.scalar(number * BUCKETS // count, pa.int16())


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)
