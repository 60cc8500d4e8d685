"""Sliding windows."""

import numpy as np

from benchmarks.events import EPOCH_US
from benchmarks.references.columns import Column, Columns
from benchmarks.workloads import SECOND_US, SLIDING_SIZE_S, SLIDING_STEP_S, Workload

STEP_US = SLIDING_STEP_S * SECOND_US
FRAMES = SLIDING_SIZE_S // SLIDING_STEP_S


def expected(events: Columns, _work: Workload) -> Columns:
    """Lay the frames of every key in a row, with room for a window before the first, and reduce every window anew."""
    frame = (events["t"] - EPOCH_US) // STEP_US
    first = int(frame.min()) - FRAMES + 1
    cells = int(frame.max()) + FRAMES - first
    keys, row = np.unique(events["key"], return_inverse=True)
    cell = row * cells + (frame - first)
    grids = {name: grid.reshape(len(keys), cells) for name, grid in _frames(events, cell, len(keys) * cells).items()}
    windows = {name: _reduce_windows(name, grid) for name, grid in grids.items()}
    holds_events = windows["n"] > 0
    which_key, which_start = np.nonzero(holds_events)
    start = EPOCH_US + (first + which_start) * STEP_US
    spans = {"key": keys[which_key], "window_start": start, "window_end": start + FRAMES * STEP_US}
    return spans | {name: column[holds_events] for name, column in windows.items()}


def _frames(events: Columns, cell: Column, cells: int) -> Columns:
    lowest, highest = np.full(cells, np.inf), np.full(cells, -np.inf)
    np.minimum.at(lowest, cell, events["b"])
    np.maximum.at(highest, cell, events["b"])
    return {
        "n": np.bincount(cell, minlength=cells),
        "sum_a": np.bincount(cell, events["a"], cells).astype(np.int64),
        "sum_b": np.bincount(cell, events["b"], cells),
        "min_b": lowest,
        "max_b": highest,
    }


def _reduce_windows(name: str, grid: Column) -> Column:
    views = np.lib.stride_tricks.sliding_window_view(grid, FRAMES, axis=1)
    reduce = {"min_b": np.min, "max_b": np.max}.get(name, np.sum)
    return np.stack([reduce(view, axis=-1) for view in views])
