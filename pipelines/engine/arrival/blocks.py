"""What windows by arrival are over their rows: ranges of blocks, groups inside a window, and bounds by event time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pipelines.engine.arrival.sliding import COUNT, TIME
from pipelines.engine.assignment import Assignment
from pipelines.engine.reduce.select import extent, sort_keys
from pipelines.engine.repeats import repeated
from pipelines.states.frames import run_numbers, run_starts

if TYPE_CHECKING:
    from pipelines.states.frames import Arrived, Frames, Ints

_NOTHING = np.empty(0, np.int64)


def blocks_of(evict: int, size: int, place: Ints, clock: Ints, leaving: tuple[np.ndarray, np.ndarray, float]) -> Ints:
    """The block of each row, on multiples of the window's length: a window that lost rows at its old end only spans two."""
    if evict == COUNT:
        return place // size
    if evict == TIME:
        return clock // size
    value, _, delta = leaving
    with np.errstate(invalid="ignore"):
        cut = np.floor_divide(value, delta) if delta else value
    return run_numbers(np.nan_to_num(cut))


def ranges(group: Ints, block: Ints, lo: Ints, hi: Ints, scattered: np.ndarray) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Order, blocks, and the range of each window; one that is no union of a suffix and a prefix of two blocks gets rows of its own."""
    begins = run_starts(group, block)
    changes: Ints = np.cumsum(begins)
    head = np.flatnonzero(begins)
    if not len(block):
        return block, block, lo, lo, hi
    last, empty = np.maximum(hi - 1, 0), hi <= lo
    first = np.minimum(lo, len(block) - 1)
    mid = head[changes[last] - 1]
    plain = empty | (changes[last] - changes[first] == 1) | (mid == lo)
    plain[np.unique(scattered[:, 0])] = False
    mid = np.where(empty, lo, np.maximum(mid, lo))
    if plain.all():
        return np.arange(len(block)), changes, lo, mid, hi
    alone = np.flatnonzero(~plain & ~np.isin(np.arange(len(lo)), scattered[:, 0]))
    window, within = repeated(alone, hi[alone] - lo[alone])
    pairs = np.concatenate((scattered, np.column_stack((window, lo[window] + within))))
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    odd = np.flatnonzero(~plain)
    starts = np.searchsorted(pairs[:, 0], odd) + len(block)
    ends = np.searchsorted(pairs[:, 0], odd, side="right") + len(block)
    lo, mid, hi = lo.copy(), mid.copy(), hi.copy()
    lo[odd], mid[odd], hi[odd] = starts, starts, ends
    order = np.append(np.arange(len(block)), pairs[:, 1])
    return order, np.append(changes, changes[-1] + 1 + run_numbers(pairs[:, 0])), lo, mid, hi


def grouped(windows: Assignment, groups: tuple[tuple[str, str], ...], rows: Arrived) -> Assignment:
    """Each window cut by the values of columns: one for each that there is among its rows."""
    window, within = repeated(np.arange(len(windows.lo)), windows.hi - windows.lo)
    row = windows.order[windows.lo[window] + within]
    columns = {name: rows.columns[column] for name, column in groups}
    codes = [_codes(column)[row] for column in columns.values()]
    sort = np.lexsort((*codes[::-1], window))
    window, row, codes = window[sort], row[sort], [code[sort] for code in codes]
    begins = run_starts(window, *codes)
    heads = np.flatnonzero(begins)
    tails, owner = np.append(heads[1:], len(row))[: len(heads)], window[heads]
    more = {"window_index": windows.more["window_index"][owner]} | {
        name: column.take(pa.array(row[heads])) for name, column in columns.items()
    }
    closed = windows.closed[owner] if windows.closed is not None else None
    start, end = windows.start[owner], windows.end[owner]
    none = _NOTHING
    return Assignment(
        row,
        np.cumsum(begins) - 1,
        windows.group[owner],
        start,
        end,
        heads,
        heads,
        tails,
        none,
        none,
        windows.missed,
        closed,
        more,
        windows.held,
    )


def _codes(column: pa.Array) -> Ints:
    """Numbers ordered as the values; null is the last."""
    keys = sort_keys(column)
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), keys, np.int64(2**63 - 1))


def bounded(windows: Assignment, frames: Frames, *, dense: bool) -> Assignment:
    """The same with the least and the largest event time of the members as their bounds."""
    start, end = extent(frames.start, windows)
    if dense:
        empty = windows.lo == windows.hi
        start, end = np.where(empty, windows.start, start), np.where(empty, windows.end, end)
    return replace(windows, start=start, end=end)
