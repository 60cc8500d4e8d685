"""The mean of lists of doubles, and the sums of powers of the distances from it: two passes, with rounding
corrected.

The mean is kept in two doubles: the nearest double, and the rest that it lacks (Knuth's two-sum), so that an
offset of 1e15 costs no digit. Sums are Neumaier's ("Rundungsfehleranalyse einiger Verfahren zur Summation
endlicher Summen", 1974). Values that are all equal have their mean and distances of 0 to the last bit; a
value that is not finite makes every sum NaN.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from muntin.engine.ordered_lists import lengths_of
from muntin.states.frames import compiled

Sums = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def moments(lists: pa.Array, power: int) -> Sums:
    """For each list a row: count, mean, rest of the mean, then the sums of the 2nd to `power`-th powers of
    the distances.

    `lists`: of doubles; nulls do not count. `power`: 2, or 4.
    """
    values, valid, bounds = _flat(lists)
    sums: Sums = _moments(values, valid, bounds, power)
    return sums


def comoments(first: pa.Array, second: pa.Array) -> Sums:
    """For each pair of lists a row: count, both means with their rests, and the sums of products of distances
    aa, bb, ab.

    `first`, `second`: parallel lists of doubles; places where either is null do not count.
    """
    a, a_valid, bounds = _flat(first)
    b, b_valid, _ = _flat(second)
    sums: Sums = _comoments(a, b, a_valid & b_valid, bounds)
    return sums


def _flat(lists: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of all lists, whether each is valid, and the bounds of the lists."""
    values = lists.flatten()
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    return values.fill_null(0.0).to_numpy(), valid, np.append(0, np.cumsum(lengths_of(lists)))


@compiled
def _plus(total, lost, value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A sum with one value more, and the sum of the parts that rounding has lost."""
    new = total + value
    lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
    return new, lost


@compiled
def _centre(values, valid, low, high):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Count, mean to rounding, and whether the values differ; the mean is NaN if a value is not finite."""
    count, total, lost, least, most, finite = 0, 0.0, 0.0, np.inf, -np.inf, True
    for at in range(low, high):
        if valid[at]:
            value = values[at] + 0.0  # no zero has a sign
            count, least, most, finite = (
                count + 1,
                min(least, value),
                max(most, value),
                finite and np.isfinite(value),
            )
            total, lost = _plus(total, lost, value)
    if not finite:
        return count, np.nan, True
    if count == 0 or least == most:
        return count, least if count else 0.0, False
    mean = (total + lost) / count
    return count, mean if np.isfinite(mean) else _mean_of_shares(values, valid, low, high, count), True


@compiled
def _mean_of_shares(values, valid, low, high, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The mean of values whose sum is too large for a double."""
    mean = 0.0
    for at in range(low, high):
        if valid[at]:
            mean += values[at] / count
    return mean


@compiled
def _two_sum(a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A sum of two doubles, and what it lacks (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@compiled
def _moments(values, valid, bounds, power):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out = np.zeros((len(bounds) - 1, power + 2))
    for row in range(len(out)):
        count, near, differ = _centre(values, valid, bounds[row], bounds[row + 1])
        out[row, 0], out[row, 1] = count, near
        if not differ:
            continue
        s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
        for at in range(bounds[row], bounds[row + 1]):
            if valid[at]:
                far = values[at] - near
                s1, s2 = s1 + far, s2 + far * far
                if power > 2:  # noqa: PLR2004 - variances alone need no more
                    s3, s4 = s3 + far * far * far, s4 + far * far * far * far
        r = s1 / count
        out[row, 1], out[row, 2] = _two_sum(near, r)
        out[row, 3] = _lowered(s2, s1 * r)
        if power > 2:  # noqa: PLR2004 - as above
            out[row, 4] = s3 - 3 * r * s2 + 2 * s1 * r * r
            out[row, 5] = _lowered(s4, 4 * r * s3 - 6 * r * r * s2 + 3 * s1 * r * r * r)
    return out


@compiled
def _lowered(squares, by):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A sum of squares about a rounded mean, lowered to that about the mean itself; values differ: not 0."""
    return squares if np.isinf(squares) else 5e-324 if by >= squares else squares - by  # NaN stays


@compiled
def _comoments(a, b, valid, bounds):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out = np.zeros((len(bounds) - 1, 8))
    for row in range(len(out)):
        low, high = bounds[row], bounds[row + 1]
        count, a_near, a_differ = _centre(a, valid, low, high)
        count, b_near, b_differ = _centre(b, valid, low, high)
        out[row, 0], out[row, 1], out[row, 3] = count, a_near, b_near
        a_sum, b_sum, aa, bb, ab = 0.0, 0.0, 0.0, 0.0, 0.0
        for at in range(low, high):
            if valid[at]:
                along, across = a[at] - a_near, b[at] - b_near
                a_sum, b_sum = a_sum + along, b_sum + across
                aa, bb, ab = aa + along * along, bb + across * across, ab + along * across
        if a_differ:
            out[row, 1], out[row, 2] = _two_sum(a_near, a_sum / count)
            out[row, 5] = _lowered(aa, a_sum * (a_sum / count))
        if b_differ:
            out[row, 3], out[row, 4] = _two_sum(b_near, b_sum / count)
            out[row, 6] = _lowered(bb, b_sum * (b_sum / count))
        if a_differ and b_differ:
            out[row, 7] = ab - a_sum * (b_sum / count)
        if np.isnan(a_near) or np.isnan(b_near):
            out[row, 1:] = np.nan
    return out
