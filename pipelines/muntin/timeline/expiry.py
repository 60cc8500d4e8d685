"""Expiry: the batches whose states may go, and the work that needs states which are gone.

batches     0  1  2  3  4  5  6  7  8
kept                       |<-------- retain   a batch from here on can be replaced
needed               |<----                    by windows over it: their states stay, too
expired     x  x  x
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import BEFORE_ALL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.states.frames import Ints
    from muntin.timeline.batches import Batches, Flags
    from muntin.timeline.work import Work


def first_kept(batches: Batches, kept_us: int) -> int:
    """The position of the first batch that ends less than `kept_us` before the end of the newest one."""
    return int(np.searchsorted(batches.end_us, batches.end_us[-1] - kept_us, side="right")) if len(batches) else 0


def as_if_replaced(batches: Batches, position: int) -> Batches:
    """The batches, one of them with other states, of any time: windows that may depend on it are derived anew from the result."""
    version, low_us, high_us = batches.version.copy(), batches.low_us.copy(), batches.high_us.copy()
    version[position] ^= np.uint64(1)
    low_us[position] = BEFORE_ALL
    high_us[position] = max(int(high_us[position]), int(batches.end_us[position]))
    return replace(batches, version=version, low_us=low_us, high_us=high_us)


def expirable(batches: Batches, position: int, works: Iterable[Work]) -> Flags:
    """The batches before a position whose states none of the works reads."""
    gone = (np.arange(len(batches)) < position) & ~batches.expired
    for work in works:
        gone &= ~_read(batches, work)
    return gone


def lacking(batches: Batches, work: Work) -> Ints:
    """The positions of the expired batches whose states a work reads."""
    return np.flatnonzero(batches.expired & (batches.rows > 0) & _read(batches, work)) if work else np.empty(0, np.int64)


def _read(batches: Batches, work: Work) -> Flags:
    """The batches whose states a work reads."""
    later = np.arange(len(batches)) >= work.since
    return later | reaching(batches, work.low_us, work.high_us)


def reaching(batches: Batches, low_us: int, high_us: int) -> Flags:
    """The batches with states whose frames reach into `[low_us, high_us)`."""
    return (batches.low_us < high_us) & (batches.high_us >= low_us)
