"""Tumbling windows by arrival: until the event time has grown by more than so much since the oldest row."""

from itertools import pairwise

import numpy as np

from benchmarks.references.columns import Column, Columns, arrived, runs, sorted_events
from benchmarks.workloads import DELTA_S, SECOND_US, Workload

DELTA_US = DELTA_S * SECOND_US


def expected(events: Columns, _work: Workload) -> Columns:
    """Sort by key, keeping the order of arrival, and look row by row for the one that opens the next window."""
    events = sorted_events(events)
    bounds = runs(events["key"])
    cuts = [_cuts(events["t"], first, behind) for first, behind in pairwise(bounds)]
    first = np.concatenate([cut[:-1] for cut in cuts])
    behind = np.concatenate([cut[1:] for cut in cuts])
    return arrived(events, first, behind)


def _cuts(t: Column, first: int, behind: int) -> Column:
    """Where windows of one key open; what the last of them opens is not full."""
    cuts = [first]
    oldest = t[first]
    for row, instant in enumerate(t[first:behind].tolist(), first):
        if instant - oldest > DELTA_US:
            cuts.append(row)
            oldest = instant
    return np.array(cuts)
