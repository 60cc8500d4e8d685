"""Sliding windows by arrival: the last so many rows, after every row."""

from itertools import pairwise

import numpy as np

from benchmarks.references.columns import Columns, arrived, runs, sorted_events
from benchmarks.workloads import ROWS, Workload


def expected(events: Columns, _work: Workload) -> Columns:
    """Sort by key, keeping the order of arrival; a window ends at every row of a key from the hundredth on."""
    events = sorted_events(events)
    bounds = runs(events["key"])
    full = [np.arange(first, behind - ROWS + 1) for first, behind in pairwise(bounds)]
    first = np.concatenate(full)
    return arrived(events, first, first + ROWS)
