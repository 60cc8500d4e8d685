"""Rows of several batches in one table, batch after batch, and the facts of each batch; and the checkpoint of
batches without files: that they were seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.schedule import Interval
from muntin.files.paths import AnyPath
from muntin.jobs.accumulate.bundles import MOST_BATCHES, Bundle
from muntin.states.checkpoint import arranged, last_frames
from muntin.states.columns import BATCH, FILE_NUMBER, FRAME, INSTANT, ROW_BATCH, ROW_IN_SPLIT
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.parquet import AS_USUAL, Encoding, encoded, states_encoding, write_named
from muntin.store.paths import StatesPath, digest_of, version_of
from muntin.store.shared_files import REPEATED, write_shared
from muntin.store.store import File
from muntin.timeline.batches import UNDECIDED, Batches, Versions


def encoding(frames: FrameSet, keys: Sequence[str]) -> Encoding:
    """How the columns of a frame set's states are encoded."""
    chosen_by = [*keys, *REPEATED]
    return states_encoding(chosen_by[:-1] if frames.by_arrival else chosen_by, chosen_by)


def arranged_batches(table: pa.Table, keys: Sequence[str], frames: FrameSet, bundle: Bundle) -> pa.Table:
    """The states of a bundle, batches ascending; each batch's states are ordered as in a file of its own.

    `table`: states as `arranged` takes them, with `ROW_BATCH`.
    """
    batch = table[ROW_BATCH].to_numpy()
    table = table.drop_columns([ROW_BATCH])
    if frames.by_arrival and FILE_NUMBER not in table.column_names:
        _, file, _ = bundle.place(batch, table[ROW_IN_SPLIT].to_numpy() - 1)
        table = table.drop_columns([ROW_IN_SPLIT]).append_column(FILE_NUMBER, pa.array(file))
    return arranged(table, keys, batch, frames.grain_us)


def facts(
    table: pa.Table,
    starts: Ints,
    ends: Ints,
    newest: Ints,
    how: Encoding,
    decided: Versions | None = None,
    *,
    width_us: int = 1,
) -> Batches:
    """The facts of each batch, with the version that it has with a file of its own, whose columns `how`
    encodes.

    `table` has `BATCH` (timestamp us UTC), ascending, and `FRAME` if its rows are states, of frames of
    `width_us`. `newest`: the largest event time of each batch, `BEFORE_ALL` without rows. `decided`: as in
    `Batches`; None where batches are not compared.
    """
    decisions = np.full(len(starts), UNDECIDED, np.uint64) if decided is None else decided
    batch = instants(table[BATCH])
    begin = np.searchsorted(batch, starts)
    end = np.searchsorted(batch, starts, side="right")
    low, high = _frames(table, begin, end, width_us)
    nothing = _digest(table.slice(0, 0), how)
    digests = [
        _digest(table.slice(at, rows), how) if rows else nothing
        for at, rows in zip(begin.tolist(), (end - begin).tolist(), strict=True)
    ]
    values = (column.tolist() for column in (starts, newest, low, high))
    facts_of_paths = zip(*values, decisions.tolist(), digests, strict=True)
    paths = [
        StatesPath(start, 0, _known(new), _known(one), _known(last), name).named(digest)
        for start, new, one, last, name, digest in facts_of_paths
    ]
    versions = [int(version_of([path]), 16) for path in paths]
    return Batches(
        starts,
        ends,
        np.array(versions, np.uint64),
        newest,
        low,
        high,
        end - begin,
        np.zeros(len(starts), np.bool_),
        decisions,
    )


def _frames(table: pa.Table, begin: Ints, end: Ints, width_us: int) -> tuple[Ints, Ints]:
    """Starts of the first and the last frame with events of each batch."""
    low, high, some = np.full(len(begin), AFTER_ALL), np.full(len(begin), BEFORE_ALL), end > begin
    if some.any() and FRAME in table.column_names:
        frames = instants(table[FRAME])
        low[some], high[some] = (
            np.minimum.reduceat(frames, begin[some]),
            np.maximum.reduceat(last_frames(table, width_us), begin[some]),
        )
    return low, high


def _digest(rows: pa.Table, how: Encoding) -> str:
    return digest_of(memoryview(encoded(rows, how)))


def _known(us: int) -> int | None:
    return None if us in (BEFORE_ALL, AFTER_ALL) else us


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
