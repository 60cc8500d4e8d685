"""Hashes of many texts, compiled."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fnv1a(bounds, data):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """FNV-1a, 64 bits (Fowler, Noll, Vo), of each text."""
    out = np.empty(len(bounds) - 1, np.uint64)
    for row in range(len(out)):
        value = np.uint64(0xCBF29CE484222325)
        for at in range(bounds[row], bounds[row + 1]):
            value = (value ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        out[row] = value
    return out
