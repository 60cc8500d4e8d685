"""Windows by a difference as a plain loop, compiled: no other engine has them, and in SQL they need recursion over rows.

A lower bound, not a peer: one pass over the rows as they came, with room for keys that are small numbers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Array = npt.NDArray[Any]

DELTA_US = 36_000_000


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows that a row has ended that is more than 36 s after the oldest."""
    events = pq.ParquetDataset([str(file) for file in files]).read()
    key, t, a, b = (events[name].to_numpy() for name in ("key", "t", "a", "b"))
    whole, real = _windows(key, t.view(np.int64), a, b)
    columns = dict(zip(("key", "window_index", "window_start", "window_end", "n", "sum_a"), whole.T, strict=True))
    columns |= dict(zip(("sum_b", "min_b", "max_b"), real.T, strict=True))
    windows = pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    for name in ("window_start", "window_end"):
        instant = pc.cast(windows[name], pa.timestamp("us", tz="UTC"))
        windows = windows.set_column(windows.column_names.index(name), name, instant)
    pq.write_table(windows, out / "windows.parquet", compression="lz4")


@numba.njit(cache=True)
def _windows(key: Array, t: Array, a: Array, b: Array) -> tuple[Array, Array]:
    keys = key.max() + 1
    whole, real, window = np.zeros((len(key), 6), np.int64), np.zeros((len(key), 3)), 0
    open_whole, open_real, oldest = np.zeros((keys, 6), np.int64), np.zeros((keys, 3)), np.zeros(keys, np.int64)
    for row, k in enumerate(key):
        counts, values = open_whole[k], open_real[k]
        if not counts[4] or t[row] - oldest[k] > DELTA_US:
            if counts[4]:
                whole[window], real[window] = counts, values
                window += 1
                counts[1] += 1
            oldest[k] = t[row]
            counts[0], counts[2], counts[3], counts[4], counts[5] = k, t[row], t[row], 0, 0
            values[0], values[1], values[2] = 0.0, b[row], b[row]
        counts[2], counts[3] = min(counts[2], t[row]), max(counts[3], t[row])
        counts[4] += 1
        counts[5] += a[row]
        values[0] += b[row]
        values[1], values[2] = min(values[1], b[row]), max(values[2], b[row])
    return whole[:window], real[:window]
