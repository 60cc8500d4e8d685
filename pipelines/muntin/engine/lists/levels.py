"""The mean of values over the times that they hold, in two doubles: no digit is lost to a great value that holds for an instant.

Products are split (Dekker) and sums keep what they lack (Knuth's two-sum), so the mean is the double nearest to the exact one but for
parts in 1e30 of the largest value. Means of equal values are that value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from muntin.engine.lists.neighbours import Doubles
    from muntin.states.frames import Ints

_SPLIT = 2.0**27 + 1
_LARGE, _SMALLER = 2.0**900, 2.0**-100  # times a length, a large value would leave the doubles' range


def means_over(window: Ints, level: Doubles, length: Ints, spans: Ints) -> Doubles:
    """The mean of each window's values, weighted by how long they hold; 0 without values.

    Args:
        window, level, length: the window of each value, ascending; the value; how long it holds, microseconds.
        spans: over which time each window's mean is, microseconds; 0 without values.
    """
    means: Doubles = _means(window, level, length, spans)
    return means


@njit(cache=True, nogil=True)
def _product(a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A product of two doubles, and what it lacks."""
    total = a * b
    over = _SPLIT * a
    a_high = over - (over - a)
    over = _SPLIT * b
    b_high = over - (over - b)
    a_low, b_low = a - a_high, b - b_high
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, nogil=True)
def _means(window, level, length, spans):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out = np.zeros(len(spans))
    begin = 0
    while begin < len(window):
        end, most, odd = begin, 0.0, 0.0
        while end < len(window) and window[end] == window[begin]:
            if np.isfinite(level[end]):
                most = max(most, abs(level[end]))
            else:
                odd += level[end]
            end += 1
        by = _SMALLER if most >= _LARGE else 1.0
        total, rest = 0.0, 0.0
        for at in range(begin, end):
            area, lacks = _product(level[at] * by, float(length[at]))
            new = total + area
            back = new - total
            total, rest = new, rest + (((total - (new - back)) + (area - back)) + lacks)
        span = float(spans[window[begin]])
        near = (total + rest) / span
        back, lacks = _product(near, span)
        mean = near + (((total - back) - lacks) + rest) / span
        out[window[begin]] = mean / by if odd == 0.0 else odd
        begin = end
    return out
