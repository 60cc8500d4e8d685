"""The states of one batch as a checkpoint keeps them: with their bucket, sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pipelines.states.columns import (
    BATCH,
    BUCKET,
    FILE_NUMBER,
    FIRST_EVENT,
    FRAME,
    INSTANT,
    LAST_EVENT,
    ORDINAL,
    ROW_IN_BATCH,
    ROW_IN_SPLIT,
)
from pipelines.states.keys import contiguous, numbered_keys
from pipelines.states.order import by_number, sorted_order, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.states.frames import Ints


def numbered(table: pa.Table, rows_by_file: Sequence[int], split: int, first: int = 0) -> pa.Table:
    """The rows with `FILE_NUMBER`, the number of their file in the batch, and `ROW_IN_BATCH`, their number in the batch.

    Args:
        table: states that are rows, with `ORDINAL`, and `ROW_IN_SPLIT` or `FILE_NUMBER`.
        rows_by_file: how many rows each file of the split has.
        split: the number of the split in the batch.
        first: the number of the split's first file in the batch.
    """
    if FILE_NUMBER not in table.column_names:
        read = table[ROW_IN_SPLIT].to_numpy() - 1
        table = table.drop_columns([ROW_IN_SPLIT])
        table = table.append_column(FILE_NUMBER, pa.array(first + _files(read, np.cumsum(rows_by_file))))
    return table.append_column(ROW_IN_BATCH, pa.array(table[ORDINAL].to_numpy() - 1 + (split << 40)))


def _files(rows: Ints, ends: Ints) -> Ints:
    """The number of each row's file. `ends`: how many rows there are up to the end of each file."""
    if bool(np.all(rows[1:] >= rows[:-1])):
        borders = np.searchsorted(rows, ends)
        return np.repeat(np.arange(len(ends) + 1), np.diff(borders, prepend=0, append=len(rows)))
    return np.searchsorted(ends, rows, side="right")


def frame_range(table: pa.Table, width_us: int) -> tuple[int | None, int | None]:
    """The starts of the first and the last frame with events, in microseconds. `width_us`: of the frames."""
    frames = contiguous(table[FRAME]).view(pa.int64()).to_numpy()
    return (int(frames.min()), int(last_frames(table, width_us).max())) if len(frames) else (None, None)


def last_frames(table: pa.Table, width_us: int) -> Ints:
    """The start of the last frame with events of each state, in microseconds: a run may reach beyond its own."""
    if LAST_EVENT not in table.column_names:
        return contiguous(table[FRAME]).view(pa.int64()).to_numpy()
    return contiguous(table[LAST_EVENT]).view(pa.int64()).to_numpy() // width_us * width_us


def arranged(table: pa.Table, keys: Sequence[str], batch_us: int | Ints, width_us: int) -> pa.Table:
    """The states with `batch` and `bucket`, sorted by (batch, bucket, key, frame), so that finalize can read row groups of its buckets.

    States that are rows are sorted by (batch, bucket, key, `ORDINAL`) and lose this column.

    Args:
        table: states.
        keys: names of the key columns.
        batch_us: the start of the batch's interval; of each row if they are of several batches.
        width_us: of the frames.
    """
    number, bucket = numbered_keys([contiguous(table[key]) for key in keys], len(table))
    batch = np.broadcast_to(np.asarray(batch_us, np.int64), len(table))
    one_batch, by_arrival = batch.strides == (0,), ORDINAL in table.column_names
    within = table[ORDINAL].to_numpy() if by_arrival else table[FRAME].to_numpy() // width_us
    if by_arrival:
        table = table.drop_columns([ORDINAL])
    if one_batch and bool(np.all(within[1:] > within[:-1])):  # rows in order of arrival are sorted by number alone, which is far cheaper
        table, number = by_number(table, number), np.repeat(np.arange(len(bucket)), np.bincount(number))
    elif (order := _order(batch, number, within)) is None:
        table = table.combine_chunks()
    else:
        table, number, batch = taken(table, order), number[order], batch if one_batch else batch[order]
    for name in (FRAME, FIRST_EVENT, LAST_EVENT):
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, contiguous(table[name]).view(INSTANT))
    table = table.add_column(len(keys), BATCH, pa.array(batch).view(INSTANT))
    return table.append_column(BUCKET, pa.array(bucket[number]))


def _order(batch: Ints, number: Ints, within: Ints) -> Ints | None:
    """What sorts rows by (batch, number, within); None if they are sorted."""
    if batch.strides == (0,):  # one batch
        if bool(np.all((number[1:] > number[:-1]) | ((number[1:] == number[:-1]) & (within[1:] > within[:-1])))):
            return None
        return sorted_order(number, within, unique=True)
    later, same = batch[1:] > batch[:-1], batch[1:] == batch[:-1]
    if bool(np.all(later | (same & (within[1:] > within[:-1])))):
        return sorted_order(np.append(0, np.cumsum(later))[: len(batch)], number)
    if bool(np.all(later | (same & ((number[1:] > number[:-1]) | ((number[1:] == number[:-1]) & (within[1:] > within[:-1])))))):
        return None
    return sorted_order(np.unique(batch, return_inverse=True)[1], number, within, unique=True)
