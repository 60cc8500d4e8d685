"""What one Spark task of finalize does: read a shard of states, combine them to windows, stage the files."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from pipelines.definition.frame_sets import frame_set_of
from pipelines.engine.combine import INSTANT, combine
from pipelines.engine.tallies import tallies
from pipelines.store.parquet import write_named
from pipelines.store.paths import windows_path
from pipelines.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.pipeline import Pipeline
    from pipelines.engine.combine import Combined


@dataclass(frozen=True, slots=True)
class Shard:
    """One window over the keys of some buckets.

    Attributes:
        pipeline, window: which.
        root: of the state.
        files: (path below the frame set's table, position of its batch), in order of arrival.
        schema: of the table of states.
        marks: the watermark after each batch of the history, microseconds.
        wanted: position -> start of the batch, for the batches whose windows are asked for.
        low_us, high_us: states in between matter; of batches at the first wanted position or later, earlier ones too.
        number, count: of this shard, and how many there are.
        staging: folder below the root for the files.
    """

    pipeline: Pipeline
    window: str
    root: str
    files: Sequence[tuple[str, int]]
    schema: pa.Schema
    marks: Sequence[int]
    wanted: Mapping[int, int]
    low_us: int
    high_us: int
    number: int
    count: int
    staging: str


def finalize_shard(shard: Shard) -> dict[str, Any]:
    """The windows of a shard, staged; the files, and what each batch closed, missed and left open."""
    combined = combined_shard(shard)
    return {
        "window": shard.window,
        "schema": base64.b64encode(_labelled(combined.windows, 0).schema.serialize()).decode(),
        "files": _stage(shard, combined),
        "tallies": tallies(combined, len(shard.marks), chained=shard.pipeline.windows[shard.window].reach_us is None),
    }


def combined_shard(shard: Shard) -> Combined:
    """The wanted windows of a shard; without any wanted, all of them."""
    pipeline, frames = shard.pipeline, frame_set_of(shard.pipeline, shard.window)
    window = pipeline.windows[shard.window]
    return combine(
        read_states(shard, f"{shard.root}/{frames.table}"),
        window=window,
        when=closing(window, np.array(shard.marks, np.int64)),
        keys=pipeline.keys,
        aggregates=pipeline.aggregates,
        width_us=frames.width_us,
        wanted=np.array(sorted(shard.wanted), np.int64),
    )


def read_states(shard: Shard, folder: str) -> pa.Table:
    """The shard's states with `position`, in order of arrival. Row groups of other buckets and times are skipped."""
    form, disk = ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
    fragments = [
        form.make_fragment(f"{folder}/{path}", disk, partition_expression=ds.field("position") == pa.scalar(at, pa.int64()))
        for path, at in shard.files
    ]
    schema = shard.schema.append(pa.field("position", pa.int64()))
    condition = (ds.field("frame") < _instant(shard.high_us)) & (
        (ds.field("frame") >= _instant(shard.low_us)) | (ds.field("position") >= min(shard.wanted, default=0))
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
