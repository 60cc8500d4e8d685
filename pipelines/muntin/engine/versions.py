"""Which row of a key was valid or published at an instant; stretches of validity that batches met.

key 7, versions     a [10, 20)   b [20, 30)   c [40, ...)
stretches         0     1            2         3   4       before a, a, b, nothing, c
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from muntin.states.frames import Ints, compiled

NEVER = np.iinfo(np.int64).min
"""The time of a row that looks nothing up."""


@compiled
def valid_versions(ids: Ints, times: Ints, first: Ints, since: Ints, until: Ints) -> tuple[Ints, Ints]:
    """The version that was valid for each row, and the number of its stretch; -1 without one.

    `ids`: number of the key of each row; -1: a key without versions. `times`: of each row; `NEVER`: it looks
    nothing up. `first`: number of the first version of each key, and behind the last key the number of all
    versions. `since`, `until`: of each version, in microseconds; ascending in each key, and not overlapping.
    """
    version, stretch = np.full(len(ids), -1, np.int64), np.full(len(ids), -1, np.int64)
    for row in range(len(ids)):
        key, time = ids[row], times[row]
        if key < 0 or time == NEVER:
            continue
        low, high = first[key], first[key + 1]
        begin = low
        while low < high:
            middle = (low + high) // 2
            if since[middle] <= time:
                low = middle + 1
            else:
                high = middle
        if low == begin:
            stretch[row] = 2 * begin + key
        elif time < until[low - 1]:
            version[row] = low - 1
            stretch[row] = 2 * low + key - 1
        else:
            stretch[row] = 2 * low + key
    return version, stretch


@compiled
def met(stretch: Ints, times: Ints, batch: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """The stretches that each batch met: a row that met it, the first and the last time at which it did.

    `stretch`: of each row, -1 without one. `times`: of each row. `batch`: of each row; rows of a batch lie
    together. `count`: of all stretches.
    """
    place = np.full(count, -1, np.int32)
    rows, facts = (
        np.empty(len(stretch), np.int64),
        np.empty((len(stretch), 3), np.int64),
    )  # batch, first and last time: side by side
    size = 0
    for row in range(len(stretch)):
        if stretch[row] < 0:
            continue
        at, time = place[stretch[row]], times[row]
        if at < 0 or facts[at, 0] != batch[row]:
            place[stretch[row]] = size
            rows[size] = row
            facts[size, 0], facts[size, 1], facts[size, 2] = batch[row], time, time
            size += 1
        elif time < facts[at, 1]:
            facts[at, 1] = time
        elif time > facts[at, 2]:
            facts[at, 2] = time
    return rows[:size], facts[:size, 1], facts[:size, 2]


def islands(ids: Ints, since: Ints, until: Ints, answer: Ints) -> NDArray[np.bool_]:
    """Versions that do not continue the one before: they have another key, other values, or a gap before
    them.

    >>> one, since = np.array([7, 7, 7, 8]), np.array([10, 20, 40, 40])
    >>> islands(one, since, np.array([20, 30, 50, 50]), np.array([1, 1, 1, 1])).tolist()
    [True, False, True, True]
    """
    alike = (ids[1:] == ids[:-1]) & (since[1:] == until[:-1]) & (answer[1:] == answer[:-1])
    return np.concatenate([np.ones(min(len(ids), 1), np.bool_), ~alike])


def settled(group_begins: Ints, known_us: Ints) -> Ints:
    """From when on a row or a later row of its group is known, microseconds.

    `group_begins`: the first row of each group, and one past the last row; ascending. `known_us`: of each
    row, when it is known, microseconds.
    """
    return _settled(group_begins, known_us)  # type: ignore[no-any-return]


def last_row_at(group_begins: Ints, settled_us: Ints, group: Ints, at_us: Ints) -> Ints:
    """For each question the last row of a group that is known at an instant; -1 if none is.

    `group_begins`, `settled_us`: of the rows, as for `settled` and as `settled` gives it. `group`: of each
    question; -1 for a group without rows. `at_us`: of each question, microseconds.
    """
    return _last_row_at(group_begins, settled_us, group, at_us)  # type: ignore[no-any-return]


@compiled
def _settled(group_begins, known_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    out = np.empty(len(known_us), np.int64)
    for group in range(len(group_begins) - 1):
        least = np.int64(2**63 - 1)
        for row in range(group_begins[group + 1] - 1, group_begins[group] - 1, -1):
            least = min(least, known_us[row])
            out[row] = least
    return out


@compiled
def _last_row_at(group_begins, settled_us, group, at_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
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
