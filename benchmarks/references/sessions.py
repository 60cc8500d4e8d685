"""Sessions."""

import numpy as np

from benchmarks.references.columns import Columns, aggregates, sorted_events
from benchmarks.workloads import SECOND_US, SESSION_GAP_S, Workload

GAP_US = SESSION_GAP_S * SECOND_US


def expected(events: Columns, _work: Workload) -> Columns:
    """Sort by key and time; a session starts where the key changes or more than a gap has passed."""
    events = sorted_events(events, "t")
    key, t = events["key"], events["t"]
    first = np.flatnonzero(np.r_[True, (np.diff(key) != 0) | (np.diff(t) > GAP_US)])
    behind = np.append(first[1:], len(key))
    spans = {"key": key[first], "window_start": t[first], "window_end": t[behind - 1] + GAP_US}
    return spans | aggregates(events, first, behind)
