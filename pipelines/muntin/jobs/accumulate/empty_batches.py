"""The checkpoint of batches without files: that they were seen."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL
from muntin.jobs.accumulate.bundle_states import facts
from muntin.jobs.accumulate.bundles import MOST_BATCHES
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.store.parquet import AS_USUAL, write_named
from muntin.store.paths import StatesPath
from muntin.store.shared_files import write_shared
from muntin.store.store import File
from muntin.timeline.batches import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath

NOTHING = pa.table(
    {BATCH: pa.array([], INSTANT), FRAME: pa.array([], INSTANT), "rows": pa.array([], pa.int64())}
)
"""The states of no rows."""


def empty_states(
    folder: AnyPath,
    intervals: Sequence[Interval],
    watermarks_us: Mapping[int, int | None],
    *,
    nothing: pa.Table = NOTHING,
    decided: Mapping[int, int] = MappingProxyType({}),
) -> list[File]:
    """Write that batches, ascending, were seen and had no files. `nothing`: the rows of no batch.

    `watermarks_us`: start of a batch -> the watermark after it, where its source says so itself. `decided`:
    start of a batch that is compared -> as in `Batches`.
    """
    if len(intervals) == 1:
        start = intervals[0].start_us
        path = StatesPath(start, 0, watermarks_us.get(start), decided=decided.get(start, UNDECIDED))
        return [File(**write_named(nothing, folder, path.named))]
    stretches = (intervals[at : at + MOST_BATCHES] for at in range(0, len(intervals), MOST_BATCHES))
    return [_shared(folder, stretch, watermarks_us, nothing, decided) for stretch in stretches]


def _shared(
    folder: AnyPath,
    intervals: Sequence[Interval],
    watermarks_us: Mapping[int, int | None],
    nothing: pa.Table,
    decided: Mapping[int, int],
) -> File:
    starts, ends = (
        np.array(each, np.int64) for each in zip(*((i.start_us, i.end_us) for i in intervals), strict=True)
    )
    watermarks = (watermarks_us.get(start) for start in starts.tolist())
    newest = np.array(
        [BEFORE_ALL if watermark_us is None else watermark_us for watermark_us in watermarks], np.int64
    )
    names = np.array([decided.get(start, UNDECIDED) for start in starts.tolist()], np.uint64)
    return write_shared(nothing, folder, facts(nothing, starts, ends, newest, AS_USUAL, names))
