"""Limits on all partitions together: which are dropped, and when, as rows come. IBM Streams, `PartitionEviction*`."""

from __future__ import annotations

import numpy as np
from numba import njit

from muntin.definition.instants import AFTER_ALL


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def dropped(sequence, group, batch, value, known, rules):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """While there are too many partitions, or too many held rows, drop the partition that was used least recently.

    Args:
        sequence: rows in order of arrival.
        group, batch: of each row: partition, position of its batch.
        value, known: what the delta of a tumbling window compares.
        rules: (rows that a tumbling window is flushed with, delta, absolute, rows that a sliding window holds at most,
            partitions, rows in all); -1 is none.

    Returns:
        For each row the batch in which its partition was dropped before another row came to it, `AFTER_ALL` if it was not; and
        whether that was at the row itself, before anything came of it.
    """
    full, delta, absolute, cap, most, most_rows = rules
    count = int(group.max()) + 1 if len(group) else 0
    after, itself = np.full(len(group), AFTER_ALL, np.int64), np.zeros(len(group), np.bool_)
    held, oldest, last = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    exists = np.zeros(count, np.bool_)
    older, newer = np.full(count + 1, count, np.int64), np.full(count + 1, count, np.int64)  # a ring of partitions, by last use
    partitions = rows = 0
    for row in sequence:
        g = group[row]
        if exists[g]:
            newer[older[g]], older[newer[g]] = newer[g], older[g]
        else:
            partitions += 1
            exists[g] = True
        if delta >= 0 and held[g] > 0 and known[row] and known[oldest[g]]:
            rise = value[row] - value[oldest[g]]
            if rise > delta or (absolute and -rise > delta):
                rows -= held[g]
                held[g] = 0
        if held[g] == 0:
            oldest[g] = row
        if cap < 0 or held[g] < cap:
            held[g] += 1
            rows += 1
        last[g] = row
        older[g], newer[g] = older[count], count
        newer[older[count]] = g
        older[count] = g
        while (most >= 0 and partitions > most) or (most_rows >= 0 and rows > most_rows):
            least = newer[count]
            newer[count], older[newer[least]] = newer[least], count
            after[last[least]], itself[last[least]] = batch[row], least == g
            partitions, rows = partitions - 1, rows - held[least]
            held[least], exists[least] = 0, False
        if full > 0 and held[g] == full:
            newer[older[g]], older[newer[g]] = newer[g], older[g]
            partitions, rows = partitions - 1, rows - held[g]
            held[g], exists[g] = 0, False
    return after, itself
