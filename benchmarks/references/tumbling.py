"""Tumbling windows."""

from benchmarks.references.columns import Columns, aggregates, runs, sorted_events
from benchmarks.workloads import Workload


def expected(events: Columns, work: Workload) -> Columns:
    """Sort by key and time, and cut where a window begins, counted from 1970."""
    events = sorted_events(events, "t")
    start = events["t"] // work.size_us * work.size_us
    bounds = runs(events["key"], start)
    first, behind = bounds[:-1], bounds[1:]
    spans = {"key": events["key"][first], "window_start": start[first], "window_end": start[first] + work.size_us}
    return spans | aggregates(events, first, behind)
