"""Runs of equal values, and tables that kernels fill without knowing how long they will become."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def grown(table, rows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The table with room for so many rows."""
    if rows <= len(table):
        return table
    out = np.empty((2 * rows, table.shape[1]), table.dtype)
    out[: len(table)] = table
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def run_end(values, head):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Index after the last of the equal values that begin at `head`."""
    tail = head + 1
    while tail < len(values) and values[tail] == values[head]:
        tail += 1
    return tail
