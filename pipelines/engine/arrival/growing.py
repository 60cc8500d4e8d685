"""Tables that kernels fill without knowing how long they will become."""

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
def added(table, rows, values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """One row more: how many there are, and the table, which may have moved."""
    table = grown(table, rows + 1)
    for at in range(len(values)):
        table[rows, at] = values[at]
    return rows + 1, table
