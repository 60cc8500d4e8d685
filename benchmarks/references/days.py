"""Calendar days."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from benchmarks.references.columns import Column, Columns, aggregates, runs, sorted_events
from benchmarks.workloads import EPOCH, SECOND_US, ZONE, Workload


def expected(events: Columns, work: Workload) -> Columns:
    """Sort by key and time, and cut at the midnights that Python's own calendar knows."""
    events = sorted_events(events, "t")
    midnights = _midnights(work)
    day = np.searchsorted(midnights, events["t"], side="right") - 1
    bounds = runs(events["key"], day)
    first, behind = bounds[:-1], bounds[1:]
    spans = {"key": events["key"][first], "window_start": midnights[day[first]], "window_end": midnights[day[first] + 1]}
    return spans | aggregates(events, first, behind)


def _midnights(work: Workload) -> Column:
    days = (EPOCH + timedelta(days=number) for number in range(-1, work.duration_s // 86_400 + 2))
    midnights = (datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(ZONE)) for day in days)
    return np.array([int(midnight.timestamp()) * SECOND_US for midnight in midnights])
