"""Windows by arrival, cut by groups, and their bounds by event time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.reduce.select import extent, sort_keys
from muntin.engine.repeats import repeated
from muntin.states.frames import run_starts

if TYPE_CHECKING:
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Arrived, Frames, Ints

_NULL_LAST = np.int64(2**63 - 1)


def grouped(windows: Assignment, groups: tuple[tuple[str, str], ...], rows: Arrived) -> Assignment:
    """Each window cut by the values of columns: a window for each of the values among its rows.

    Args:
        windows: the windows.
        groups: result column -> column of the states.
        rows: the columns.
    """
    window, within = repeated(np.arange(len(windows.lo)), windows.hi - windows.lo)
    row = windows.order[windows.lo[window] + within]
    columns = {name: rows.columns[column] for name, column in groups}
    codes = [_codes(column)[row] for column in columns.values()]
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


def _codes(column: pa.Array) -> Ints:
    """Numbers ordered as the values; null is the last."""
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), sort_keys(column), _NULL_LAST)


def bounded(windows: Assignment, frames: Frames) -> Assignment:
    """The windows with the least and the largest event time of their rows as bounds; empty windows keep their bounds."""
    start, end = extent(frames.start, windows)
    empty = windows.lo == windows.hi
    if not empty.any():
        return replace(windows, start=start, end=end)
    return replace(windows, start=np.where(empty, windows.start, start), end=np.where(empty, windows.end, end))
