"""The earlier batches with which the ids of a batch are compared, and names of everything that a comparison
depends on.

batch            0      1      2             3       `within` is 10 minutes
event times      0-59   60-119 100-170       181-240
in reach of 3                  =                     170 >= 181 - 10
in reach of 2    -      =                            59 < 100 - 10

A hole parts batches: history does not go on behind it. As a stretch of neighbours, reach may hold batches too
many, never too few.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from muntin.states.frames import Ints
from muntin.states.keys import scattered
from muntin.timeline.batches import Batches, Versions

_NAME_BYTES = 8


def first_of_run(start_us: Ints, end_us: Ints) -> Ints:
    """For each batch the position of the first batch of its run without holes.

    `start_us`, `end_us`: of the batches' intervals, ascending.
    """
    begins = np.zeros(len(start_us), np.bool_)
    begins[1:] = start_us[1:] != end_us[:-1]
    return np.maximum.accumulate(np.where(begins, np.arange(len(start_us)), 0))


def first_in_reach(batches: Batches, within_us: int) -> Ints:
    """For each batch the position of the first batch that its ids are compared with; its own position where
    there is none.

    `batches`: of the table of ids; `low_us` and `high_us` are the first and the last event time. `within_us`:
    how far the event times of duplicates may lie apart.
    """
    reached = np.searchsorted(np.maximum.accumulate(batches.high_us), batches.low_us - within_us)
    return np.clip(reached, first_of_run(batches.start_us, batches.end_us), np.arange(len(batches)))


def compared(batches: Batches, first: Ints) -> Versions:
    """For each batch a name of its ids and of the ids in reach; `first`: as of `first_in_reach`."""
    each = scattered(scattered(batches.start_us) ^ batches.version)
    sums = np.append(np.uint64(0), np.cumsum(each, dtype=np.uint64))
    return scattered(scattered(each) ^ (sums[:-1] - sums[first]))


def decided(version: int, high: Ints, low: Ints) -> int:
    """The name of a decision: of the ids of a batch, and of the ids that are duplicates.

    `version`: of the batch in the table of ids. `high`, `low`: the halves of the duplicates' hashes.
    """
    order = np.lexsort((low, high))
    content = b"".join((int(version).to_bytes(8, "little"), high[order].tobytes(), low[order].tobytes()))
    return int.from_bytes(blake2b(content, digest_size=_NAME_BYTES).digest(), "big") or 1
