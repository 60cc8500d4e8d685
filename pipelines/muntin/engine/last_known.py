"""The last window of a key that was known at an instant: rows are sorted once, and each question is a binary search.

window       0        1        2              of one key, in order
known        10       40       25             when it was known: window 2 was, before window 1
settled      10       25       25             from then on this window or a later window is known: the least of what follows

at 9: none       at 10, at 24: window 0       at 25: window 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from muntin.states.frames import Ints


def settled(group_begins: Ints, known_us: Ints) -> Ints:
    """From when on a row or a later row of its group is known, microseconds.

    Args:
        group_begins: the first row of each group, and one past the last row; ascending.
        known_us: of each row, when it is known, microseconds.
    """
    return _settled(group_begins, known_us)  # type: ignore[no-any-return]


def last_known(group_begins: Ints, settled_us: Ints, group: Ints, at_us: Ints) -> Ints:
    """For each question the last row of a group that is known at an instant; -1 if none is.

    Args:
        group_begins, settled_us: of the rows, as for `settled` and as `settled` gives it.
        group: of each question; -1 for a group without rows.
        at_us: of each question, microseconds.
    """
    return _last_known(group_begins, settled_us, group, at_us)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _settled(group_begins, known_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    out = np.empty(len(known_us), np.int64)
    for group in range(len(group_begins) - 1):
        least = np.int64(2**63 - 1)
        for row in range(group_begins[group + 1] - 1, group_begins[group] - 1, -1):
            least = min(least, known_us[row])
            out[row] = least
    return out


@njit(cache=True, nogil=True)
def _last_known(group_begins, settled_us, group, at_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    out = np.full(len(group), -1, np.int64)
    for question in range(len(group)):
        if group[question] < 0:
            continue
        first = low = group_begins[group[question]]
        high = group_begins[group[question] + 1]
        while low < high:
            middle = (low + high) // 2
            if settled_us[middle] <= at_us[question]:
                low = middle + 1
            else:
                high = middle
        if low > first:
            out[question] = low - 1
    return out
