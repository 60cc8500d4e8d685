"""What must come out, computed the slow and obvious way with numpy. Every contestant's windows are compared with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.events import EPOCH_US
from benchmarks.workloads import SECOND_US, SESSION_GAP_S, SLIDING_SIZE_S, SLIDING_STEP_S, Workload

Column = npt.NDArray[Any]
Columns = dict[str, Column]

STEP_US = SLIDING_STEP_S * SECOND_US
FRAMES = SLIDING_SIZE_S // SLIDING_STEP_S
GAP_US = SESSION_GAP_S * SECOND_US


def reference(workload: Workload, files: Sequence[Path]) -> Columns:
    """The workload's windows, sorted by key and start; kept beside the events once computed."""
    kept = files[0].parent / "reference" / "windows.parquet"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        events = as_columns(pq.ParquetDataset(list(files)).read())
        windows = sliding(events) if workload.name == "W1" else sessions(events)
        pq.write_table(pa.table(windows), kept)
    return as_columns(pq.read_table(kept))


def as_columns(table: pa.Table) -> Columns:
    """The columns as numpy arrays; instants become microseconds since 1970."""
    return {name: _as_array(table.column(name)) for name in table.column_names}


def _as_array(column: "pa.ChunkedArray[Any]") -> Column:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    return column.to_numpy()


def sliding(events: Columns) -> Columns:
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


def sessions(events: Columns) -> Columns:
    """Sort by key and time; a session starts where the key changes or more than a gap has passed."""
    order = np.lexsort((events["t"], events["key"]))
    key, t, a, b = (events[name][order] for name in ("key", "t", "a", "b"))
    starts = np.flatnonzero(np.r_[True, (np.diff(key) != 0) | (np.diff(t) > GAP_US)])
    ends = np.r_[starts[1:], len(key)]
    return {
        "key": key[starts],
        "window_start": t[starts],
        "window_end": t[ends - 1] + GAP_US,
        "n": ends - starts,
        "sum_a": np.add.reduceat(a, starts),
        "sum_b": np.add.reduceat(b, starts),
        "min_b": np.minimum.reduceat(b, starts),
        "max_b": np.maximum.reduceat(b, starts),
    }
