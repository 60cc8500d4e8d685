"""Rows repeated and counted up: how kernels pair windows with rows without a loop."""

from __future__ import annotations

import numpy as np

from muntin.states.frames import Ints


def repeated(rows: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Each row as often as its count says, and the number of each copy, from 0.

    >>> [part.tolist() for part in repeated(np.array([7, 9]), np.array([2, 3]))]
    [[7, 7, 9, 9, 9], [0, 1, 0, 1, 2]]
    """
    copy = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(rows, counts), copy


def consecutive(starts: Ints, counts: Ints) -> Ints:
    """The numbers `start, start + 1, ...` of each start, as many as its count says, concatenated.

    >>> consecutive(np.array([7, 40]), np.array([2, 3])).tolist()
    [7, 8, 40, 41, 42]
    """
    total = int(counts.sum())
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(total)
