"""Unique sliding windows (KIP-450)."""

import numpy as np

from benchmarks.references.columns import Columns, aggregates, runs, sorted_events
from benchmarks.workloads import SECOND_US, UNIQUE_SIZE_S, Workload

SIZE_US = UNIQUE_SIZE_S * SECOND_US
KEY = 1 << 52
"""Room for an instant in microseconds."""


def expected(events: Columns, work: Workload) -> Columns:
    """A window that ends at each distinct time and one that starts behind it; of each its rows by binary search."""
    events = sorted_events(events, "t")
    packed = events["key"] * np.int64(KEY) + events["t"]
    distinct = packed[runs(packed)[:-1]]
    start = np.union1d(distinct - SIZE_US, distinct + work.resolution_us)
    first, behind = np.searchsorted(packed, start), np.searchsorted(packed, start + SIZE_US, side="right")
    start, first, behind = (column[behind > first] for column in (start, first, behind))
    key = events["key"][first]
    since = start - key * np.int64(KEY)
    return {"key": key, "window_start": since, "window_end": since + SIZE_US} | aggregates(events, first, behind)
