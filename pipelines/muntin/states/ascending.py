"""Sets of numbers as ascending arrays: a binary search for each number asked for, and no work on all that the set holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from muntin.states.frames import Ints


def is_among(values: Ints, ascending: Ints) -> np.ndarray:
    """Whether each value is in an ascending array, which may hold a value twice. `np.isin` would hash or sort both arrays anew.

    >>> is_among(np.array([5, 1, 9]), np.array([1, 2, 5]))
    array([ True,  True, False])
    """
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    at = np.searchsorted(ascending, values)
    return ascending[np.minimum(at, len(ascending) - 1)] == values


def stretch(rows: Ints) -> Ints | slice:
    """Numbers that ascend, none twice (else the slice is wrong); as a slice if none is left out between: what it takes is not copied.

    >>> stretch(np.array([3, 4, 5])), stretch(np.array([3, 5])), stretch(np.array([], np.int64))
    (slice(3, 6, None), array([3, 5]), slice(0, 0, None))
    """
    first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    return slice(first, end) if end - first == len(rows) else rows
