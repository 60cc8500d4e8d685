"""Tumbling windows by arrival: every so many rows."""

from itertools import pairwise

import numpy as np

from benchmarks.references.columns import Columns, arrived, runs, sorted_events
from benchmarks.workloads import ROWS, Workload


def expected(events: Columns, _work: Workload) -> Columns:
    """Sort by key, keeping the order of arrival, and cut every key's rows; what is not full is no window."""
    events = sorted_events(events)
    bounds = runs(events["key"])
    full = [np.arange(first, behind - ROWS + 1, ROWS) for first, behind in pairwise(bounds)]
    first = np.concatenate(full)
    return arrived(events, first, first + ROWS)
