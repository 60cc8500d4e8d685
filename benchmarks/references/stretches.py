"""Stretches of adjacent rows for which a condition holds."""

import numpy as np

from benchmarks.references.columns import Columns, aggregates, runs, sorted_events
from benchmarks.workloads import BELOW, Workload


def expected(events: Columns, _work: Workload) -> Columns:
    """Sort by key and time; the next row of the key ends a stretch, and a stretch without a next row is no window yet."""
    events = sorted_events(events, "t")
    key, holds = events["key"], events["a"] < BELOW
    bounds = runs(key, holds)
    first, behind = bounds[:-1], bounds[1:]
    ended = np.append(key[behind[:-1]] == key[first[:-1]], np.array([False]))
    first, behind = (some[holds[first] & ended] for some in (first, behind))
    spans = {"key": key[first], "window_start": events["t"][first], "window_end": events["t"][behind]}
    return spans | aggregates(events, first, behind)
