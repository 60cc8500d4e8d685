"""Borders between batches in a log of partitions: each offset belongs to one batch, in whatever order batches are read.

A border is an instant with an offset for each partition. A batch holds the offsets between the borders of its start and its end.

    offsets    0 1 2 3 4 5 6 7
    border     |     |     |        01:00, 02:00, 03:00
    batch      01:00  02:00

A noted border stays. A border that is noted later lies between its neighbours, whatever the log says by then.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Border = Mapping[int, int]  # partition -> offset; a partition that is not in it has no offset before the border


def between_neighbours(noted: Mapping[int, Border], asked: Mapping[int, Border]) -> dict[int, dict[int, int]]:
    """Borders for more instants, so that all borders together never go back.

    Args:
        noted: instant -> its border; never going back.
        asked: other instants -> the offsets that the log gives for them.

    >>> between_neighbours({0: {0: 2}, 20: {0: 5}}, {10: {0: 9}, 30: {0: 4, 1: 7}})
    {10: {0: 5}, 30: {0: 5, 1: 7}}
    """
    known, out = sorted(noted), dict[int, dict[int, int]]()
    before: Border = {}
    for instant in sorted(asked):
        at = bisect_left(known, instant)
        before = highest(before, noted[known[at - 1]]) if at else before
        after = noted[known[at]] if at < len(known) else None
        low_enough = {one: offset if after is None else min(offset, after.get(one, 0)) for one, offset in asked[instant].items()}
        before = out[instant] = highest(low_enough, before)
    return out


def highest(one: Border, other: Border) -> dict[int, int]:
    """The higher offset of each partition."""
    return {each: max(one.get(each, 0), other.get(each, 0)) for each in sorted({*one, *other})}
