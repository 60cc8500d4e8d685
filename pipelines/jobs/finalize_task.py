"""What one Spark task of finalize does: read a shard of states, combine them to windows, stage the files."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from pipelines.definition.frame_sets import frame_set_of
from pipelines.engine.combine import INSTANT, arrange, combine_arranged
from pipelines.engine.frames import POSITION
from pipelines.engine.tallies import tallies
from pipelines.store.parquet import write_named
from pipelines.store.paths import windows_path
from pipelines.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.engine.combine import Arranged, Combined
    from pipelines.jobs.shards import Shard
    from pipelines.windows import Window


def finalize_shards(shards: Sequence[Shard]) -> list[dict[str, Any]]:
    """The windows of shards that read the same states, staged; the files, and what each batch closed, missed, left open."""
    arranged = _arranged(shards[0])
    found = [(shard, _combined(shard, arranged)) for shard in shards]
    late_any = np.any([combined.found.missed > 0 for _, combined in found], axis=0)
    return [
        {
            "window": shard.window,
            "schema": base64.b64encode(_labelled(combined.windows, 0).schema.serialize()).decode(),
            "files": _stage(shard, combined),
            "tallies": tallies(combined, len(shard.marks), chained=_window(shard).reach_us is None, late_any=late_any),
        }
        for shard, combined in found
    ]


def combined_shard(shard: Shard) -> Combined:
    """The wanted windows of a shard."""
    return _combined(shard, _arranged(shard))


def _window(shard: Shard) -> Window:
    return shard.pipeline.windows[shard.window]


def _arranged(shard: Shard) -> Arranged:
    frames = frame_set_of(shard.pipeline, shard.window)
    return arrange(read_states(shard, f"{shard.root}/{frames.table}"), shard.pipeline.keys, frames.width_us)


def _combined(shard: Shard, arranged: Arranged) -> Combined:
    return combine_arranged(
        arranged,
        window=_window(shard),
        when=closing(_window(shard), np.array(shard.marks, np.int64)),
        keys=shard.pipeline.keys,
        aggregates=shard.pipeline.aggregates,
        wanted=np.array(sorted(shard.wanted), np.int64),
    )


def read_states(shard: Shard, folder: str) -> pa.Table:
    """The shard's states with `POSITION`, in order of arrival. Row groups of other buckets and times are skipped."""
    form, disk = ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
    fragments = [
        form.make_fragment(f"{folder}/{path}", disk, partition_expression=ds.field(POSITION) == pa.scalar(at, pa.int64()))
        for path, at in shard.files
    ]
    schema = shard.schema.append(pa.field(POSITION, pa.int64()))
    condition = (ds.field("frame") < _instant(shard.high_us)) & (
        (ds.field("frame") >= _instant(shard.low_us)) | (ds.field(POSITION) >= shard.since)
    )
    if shard.count > 1:
        condition &= (ds.field("bucket") >= _share(shard.number, shard.count)) & (
            ds.field("bucket") < _share(shard.number + 1, shard.count)
        )
    columns = [name for name in schema.names if name not in ("batch", "bucket")]
    return ds.FileSystemDataset(fragments, schema, form, disk).to_table(columns=columns, filter=condition, use_threads=False)


def _share(number: int, count: int) -> pa.Scalar:
    from pipelines.engine.keys import BUCKETS

    return pa.scalar(number * BUCKETS // count, pa.int16())


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)


def _stage(shard: Shard, combined: Combined) -> list[dict[str, Any]]:
    """One file per closing batch that closed something; sorted by key and start as they come."""
    order = np.argsort(combined.closed, kind="stable")
    closed = combined.closed[order]
    windows = combined.windows.take(pa.array(order)) if len(order) and bool(np.any(np.diff(combined.closed) < 0)) else combined.windows
    bounds = np.searchsorted(closed, np.append(sorted(shard.wanted), len(shard.marks) + 1))
    files = []
    for at, (position, start) in enumerate(sorted(shard.wanted.items())):
        rows = windows.slice(bounds[at], np.searchsorted(closed, position, side="right") - bounds[at])
        if len(rows):
            folder = f"{shard.root}/{shard.staging}/{shard.window}"
            name = partial(windows_path, start, shard.number)
            files.append(
                {**write_named(_labelled(rows, start), folder, name, dictionary=[*shard.pipeline.keys, "batch"]), "position": position}
            )
    return files


def _labelled(windows: pa.Table, batch_us: int) -> pa.Table:
    return windows.append_column("batch", pa.repeat(pa.scalar(batch_us, pa.int64()), len(windows)).view(INSTANT))
