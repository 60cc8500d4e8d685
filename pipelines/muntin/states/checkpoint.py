"""The states of one batch as a checkpoint keeps them: with their bucket, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.columns import (
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
from muntin.states.frames import Ints
from muntin.states.keys import contiguous, key_codes, numbered_keys
from muntin.states.order import by_number, sorted_order, take_rows
from muntin.states.sorted import instants


def with_files(table: pa.Table, rows_by_file: Sequence[int], first: int = 0) -> pa.Table:
    """The rows with `FILE_NUMBER`, the number of their file in the batch.

    `table`: states that are rows, with `ROW_IN_SPLIT` or `FILE_NUMBER`. `rows_by_file`: how many rows each
    file of the split has. `first`: the number of the split's first file in the batch.
    """
    if FILE_NUMBER in table.column_names:
        return table
    files = _files(
        table[ROW_IN_SPLIT].to_numpy(),
        np.cumsum(rows_by_file),
        np.arange(first, first + len(rows_by_file) + 1),
    )
    return table.drop_columns([ROW_IN_SPLIT]).append_column(FILE_NUMBER, pa.array(files))


def _files(rows: Ints, ends: Ints, numbers: Ints) -> Ints:
    """The number of each row's file. `rows`: from 1; `ends`: the number of rows up to each file's end."""
    if bool(np.all(rows[1:] >= rows[:-1])):
        borders = np.searchsorted(rows, ends, side="right")
        return np.repeat(numbers, np.diff(borders, prepend=0, append=len(rows)))
    return numbers[np.searchsorted(ends, rows)]


def frame_range(table: pa.Table, width_us: int) -> tuple[int | None, int | None]:
    """The starts of the first and the last frame with events, in microseconds. `width_us`: of the frames."""
    frames = instants(table[FRAME])
    return (int(frames.min()), int(last_frames(table, width_us).max())) if len(frames) else (None, None)


def last_frames(table: pa.Table, width_us: int) -> Ints:
    """The start of the last frame with events of each state, microseconds: a run may reach further."""
    frames: Ints = instants(table[FRAME])
    if LAST_EVENT not in table.column_names:
        return frames
    last = instants(table[LAST_EVENT]) // width_us * width_us
    return np.maximum(frames, last)  # frames may begin a little behind whole widths


def arranged(
    table: pa.Table, keys: Sequence[str], batch_us: int | Ints, width_us: int, split: int = 0
) -> pa.Table:
    """The states with `batch` and `bucket`, sorted by (batch, bucket, key, frame), so that finalize can read
    row groups of its buckets.

    States that are rows are sorted by (batch, bucket, key, `ORDINAL`); in place of this column they have
    `ROW_IN_BATCH`, their number in the batch.

    `table`: states. `keys`: names of the key columns. `batch_us`: the start of the batch's interval; of each
    row if they are of several batches. `width_us`: of the frames. `split`: the number of the split in the
    batch.
    """
    number, bucket = numbered_keys([contiguous(table[key]) for key in keys], len(table))
    batch = np.broadcast_to(np.asarray(batch_us, np.int64), len(table))
    one_batch = batch.strides == (0,)
    by_arrival = ORDINAL in table.column_names
    if (
        by_arrival and one_batch and _rises(table[ORDINAL])
    ):  # rows in order of arrival are sorted by number alone, which is far cheaper
        table = by_number(table, number)
        bucket = np.repeat(bucket, np.bincount(number))
    elif (order := _order(batch, number, _within(table, width_us))) is None:
        table = table.combine_chunks()
        bucket = bucket[number]
    else:
        table, bucket, batch = (
            take_rows(table, order),
            bucket[number[order]],
            batch if one_batch else batch[order],
        )
    if by_arrival:
        places = pc.add(table[ORDINAL], pa.scalar((split << 40) - 1, pa.int64()))
        table = table.drop_columns([ORDINAL]).append_column(ROW_IN_BATCH, places)
    for name in (FRAME, FIRST_EVENT, LAST_EVENT):
        if name in table.column_names:
            table = table.set_column(
                table.column_names.index(name), name, contiguous(table[name]).view(INSTANT)
            )
    table = table.add_column(len(keys), BATCH, pa.array(batch).view(INSTANT))
    return table.append_column(BUCKET, pa.array(bucket))


def _within(table: pa.Table, width_us: int) -> Ints:
    """The value that sorts the states of a key in a batch: the place of a row, or the number of a frame."""
    return table[ORDINAL].to_numpy() if ORDINAL in table.column_names else table[FRAME].to_numpy() // width_us


def _rises(numbers: pa.ChunkedArray) -> bool:
    parts = [part.to_numpy() for part in numbers.chunks if len(part)]
    return all(bool(np.all(part[1:] > part[:-1])) for part in parts) and all(
        one[-1] < other[0] for one, other in pairwise(parts)
    )


def _order(batch: Ints, number: Ints, within: Ints) -> Ints | None:
    """The order of rows by (batch, number, within); None if they are sorted."""
    if batch.strides == (0,):  # one batch
        if bool(
            np.all((number[1:] > number[:-1]) | ((number[1:] == number[:-1]) & (within[1:] > within[:-1])))
        ):
            return None
        return sorted_order(number, within, unique=True)
    later = batch[1:] > batch[:-1]
    same = batch[1:] == batch[:-1]
    if bool(np.all(later | (same & (within[1:] > within[:-1])))):
        return sorted_order(np.append(0, np.cumsum(later))[: len(batch)], number)
    if bool(
        np.all(
            later
            | (
                same
                & ((number[1:] > number[:-1]) | ((number[1:] == number[:-1]) & (within[1:] > within[:-1])))
            )
        )
    ):
        return None
    return sorted_order(np.unique(batch, return_inverse=True)[1], number, within, unique=True)


_CODE = "muntin_code"
_ALIKE = (_CODE, FRAME, "rows", FIRST_EVENT, LAST_EVENT, ROW_IN_BATCH)


def joined(
    old: pa.Table, new: pa.Table, keys: Sequence[str], columns: Sequence[str]
) -> tuple[pa.Table, Ints]:
    """States with the columns of both tables, and the starts of the batches whose states are not of the same
    rows and are left out.

    `old`: states of some batches: key columns, `batch`, `frame`, `rows`, ...; states of one batch, key and
    frame in order of arrival. `new`: states as in `old`, with other fields. `keys`: names of the key columns.
    `columns`: of the result, in order; a column of both tables is that of `old`.
    """
    both_keys = [
        pa.concat_arrays([contiguous(old[key]), contiguous(new[key].cast(old[key].type))]) for key in keys
    ]
    codes = pa.array(key_codes(both_keys, len(old) + len(new)))
    unlike = _other_counts(_integers(old[BATCH]), _integers(new[BATCH]))
    old = _ordered(old.append_column(_CODE, codes[: len(old)]), unlike)
    new = _ordered(new.append_column(_CODE, codes[len(codes) - len(new) :]), unlike)
    differ = np.zeros(len(old), np.bool_)
    for name in _ALIKE:
        if name in old.column_names:
            differ |= _integers(old[name]) != _integers(new[name])
    bad = np.unique(_integers(old[BATCH])[differ])
    alike = pa.array(~np.isin(_integers(old[BATCH]), bad))
    both = pa.table({name: (old if name in old.column_names else new)[name] for name in columns})
    return both.filter(alike), np.union1d(unlike, bad)


def _other_counts(old: Ints, new: Ints) -> Ints:
    """The batches that have more rows in the first column of batches than in the second, ascending."""
    starts = np.union1d(old, new)
    counts = (np.bincount(np.searchsorted(starts, column), minlength=len(starts)) for column in (old, new))
    return starts[np.not_equal(*counts)]


def _ordered(table: pa.Table, unlike: Ints) -> pa.Table:
    """The rows of the other batches, in an order that both tables have."""
    table = table.filter(pa.array(~np.isin(_integers(table[BATCH]), unlike)))
    within = [ROW_IN_BATCH] if ROW_IN_BATCH in table.column_names else [_CODE, FRAME]
    return table.take(pa.array(sorted_order(*(_integers(table[name]) for name in (BATCH, *within)))))


def _integers(column: pa.ChunkedArray) -> Ints:
    values = contiguous(column)
    return (
        values.view(pa.int64()) if pa.types.is_timestamp(values.type) else values.cast(pa.int64())
    ).to_numpy(zero_copy_only=False)
