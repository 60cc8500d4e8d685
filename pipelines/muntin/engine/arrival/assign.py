"""Windows by arrival: from rows in order of arrival, and what was held before them, to ranges of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from muntin.engine.arrival.adaptive import adapt
from muntin.engine.arrival.fired import Fired
from muntin.engine.arrival.reading import arrived_rows
from muntin.engine.arrival.rules import Rules
from muntin.engine.arrival.sliding import slide
from muntin.engine.arrival.tumbling import tumble
from muntin.engine.assignment import Assignment
from muntin.engine.reduce.select import extent, sort_keys
from muntin.engine.repeats import repeated
from muntin.states.frames import NO_INTS, Arrived, Frames, Ints, run_numbers, run_starts


class Ranges(NamedTuple):
    """The row ranges of an `Assignment`: window w is `order[lo[w]:hi[w]]`, its second block from `mid[w]`."""

    order: Ints
    block: Ints
    lo: Ints
    mid: Ints
    hi: Ints


def ranges(group: Ints, fired: Fired) -> Ranges:
    """Windows as ranges that span at most two blocks.

    Rows stand in `order` as they are. A window is a suffix of a block and a prefix of the next block,
    or such a prefix alone::

        rows     0  1  2  3 | 4  5  6  7 | 8  9
        block    1  1  1  1 | 2  2  2  2 | 3  3
        window         (2  3 . 4  5)                lo = 2, mid = 4, hi = 6
        window                (4  5  6)             lo = 4, mid = 4, hi = 7

    Windows that span three blocks, lie inside a block, or leave rows out are *listed*: their rows are
    repeated at the end, a block for each window::

        window            (3 . 4  5  6  7 . 8)
        order    0 .. 9 |  3   4  5  6  7   8       lo = 10, mid = 10, hi = 16
        block    1 .. 3 |  4   4  4  4  4   4

    `group`: of each row, the partition; a block does not go beyond it. `fired`: the windows.
    """
    if fired.are_blocks:
        return Ranges(np.arange(len(group)), fired.block, fired.lo, fired.lo, fired.hi)
    begins = run_starts(group, fired.block)
    block: Ints = np.cumsum(begins)
    rows, plain = np.arange(len(block)), Ranges(np.arange(len(block)), block, fired.lo, fired.lo, fired.hi)
    if not len(rows):
        return plain
    mid, fits = _second_blocks(block, np.flatnonzero(begins), fired.lo, fired.hi)
    fits[np.unique(fired.listed[:, 0])] = False
    plain = plain._replace(mid=mid)
    return plain if fits.all() else _with_listed(plain, np.flatnonzero(~fits), fired)


def _second_blocks(block: Ints, heads: Ints, lo: Ints, hi: Ints) -> tuple[Ints, np.ndarray]:
    """Where each window's last block begins, or the window; and whether it is a suffix and a prefix."""
    empty = hi <= lo
    first_block, last_block = block[np.minimum(lo, len(block) - 1)], block[np.maximum(hi - 1, 0)]
    last_head = heads[last_block - 1]
    return np.where(empty, lo, np.maximum(last_head, lo)), empty | (last_block - first_block == 1) | (
        last_head == lo
    )


def _with_listed(plain: Ranges, listed: Ints, fired: Fired) -> Ranges:
    """The ranges with the rows of the listed windows appended."""
    unlisted = listed[~np.isin(listed, fired.listed[:, 0])]
    window, within = repeated(unlisted, fired.hi[unlisted] - fired.lo[unlisted])
    pairs = np.concatenate((fired.listed, np.column_stack((window, fired.lo[window] + within))))
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    lo, mid, hi = plain.lo.copy(), plain.mid.copy(), plain.hi.copy()
    lo[listed] = mid[listed] = len(plain.order) + np.searchsorted(pairs[:, 0], listed)
    hi[listed] = len(plain.order) + np.searchsorted(pairs[:, 0], listed, side="right")
    blocks = np.append(plain.block, plain.block[-1] + 1 + run_numbers(pairs[:, 0]))
    return Ranges(np.append(plain.order, pairs[:, 1]), blocks, lo, mid, hi)


_NULL_LAST = np.int64(2**63 - 1)


def grouped(windows: Assignment, groups: tuple[tuple[str, str], ...], rows: Arrived) -> Assignment:
    """Each window cut by the values of columns: a window for each of the values among its rows.

    `windows`: the windows. `groups`: result column -> column of the states. `rows`: the columns.
    """
    window, within = repeated(np.arange(len(windows.lo)), windows.hi - windows.lo)
    row = windows.order[windows.lo[window] + within]
    columns = {name: rows.columns[column] for name, column in groups}
    valid = (column.is_valid().to_numpy(zero_copy_only=False) for column in columns.values())
    keys = (sort_keys(column) for column in columns.values())
    codes = [np.where(some, key, _NULL_LAST)[row] for some, key in zip(valid, keys, strict=True)]
    sort = np.lexsort((*codes[::-1], window))
    window, row, codes = window[sort], row[sort], [code[sort] for code in codes]
    begins = run_starts(window, *codes)
    heads = np.flatnonzero(begins)
    cut = window[heads]  # the window that each of the new windows is cut from
    return replace(
        windows,
        order=row,
        block=np.cumsum(begins) - 1,
        group=windows.group[cut],
        start=windows.start[cut],
        end=windows.end[cut],
        lo=heads,
        mid=heads,
        hi=np.append(heads[1:], len(row))[: len(heads)],
        closed=None if windows.closed is None else windows.closed[cut],
        more={name: values[cut] for name, values in windows.more.items()}
        | {name: column.take(pa.array(row[heads])) for name, column in columns.items()},
    )


def bounded(windows: Assignment, frames: Frames) -> Assignment:
    """The windows, bounded by the least and greatest event time of their rows unless empty."""
    start, end = extent(frames.start, windows)
    empty = windows.lo == windows.hi
    if not empty.any():
        return replace(windows, start=start, end=end)
    return replace(
        windows, start=np.where(empty, windows.start, start), end=np.where(empty, windows.end, end)
    )


def arrived(rules: Rules, frames: Frames, batches: int) -> Assignment:
    """The windows of rows in order of arrival.

    `rules`: when windows end, or fire. `frames`: the rows, sorted by partition and arrival; what was held
    before comes first. `batches`: how many there are; windows that are open have that position.
    """
    fire = slide if rules.trigger else adapt if rules.following else tumble
    return assigned(fire(rules, frames), frames, batches, flush=rules.flush, groups=rules.groups)


def assigned(
    fired: Fired, frames: Frames, batches: int, *, flush: bool, groups: tuple[tuple[str, str], ...] = ()
) -> Assignment:
    """The assignment of windows that a kernel found.

    `fired`: the windows. `frames`, `batches`: as for `arrived`. `flush`: whether open windows are closed by
    the last batch. `groups`: result column -> column of the states, by whose values windows are cut.
    """
    order, block, lo, mid, hi = ranges(frames.group, fired)
    closed = np.minimum(fired.closed, batches - 1) if flush else fired.closed
    missed, more = np.zeros(len(frames), np.int64), {"window_index": fired.index}
    start, end = fired.empty_start, fired.empty_end
    windows = Assignment(
        order, block, fired.group, start, end, lo, mid, hi, NO_INTS, NO_INTS, missed, closed, more, fired.held
    )
    return bounded(grouped(windows, groups, arrived_rows(frames)) if groups else windows, frames)
