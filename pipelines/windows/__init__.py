"""Kinds of windows, one per file: parameters, checks, and the assigner that turns sorted frames into ranges."""

from pipelines.engine.assignment import Assignment
from pipelines.windows.all_time import AllTime, all_time
from pipelines.windows.arrival.policies import by_count, by_delta, by_punctuation, by_time, keep
from pipelines.windows.arrival.progressive_sort import ProgressiveSort, progressive_sort
from pipelines.windows.arrival.window import Arrival, arrival
from pipelines.windows.calendar import Calendar
from pipelines.windows.cumulating import Cumulating, cumulating
from pipelines.windows.kind import Window
from pipelines.windows.session import LimitedSession, Session, session
from pipelines.windows.sliding import Sliding, sliding
from pipelines.windows.trailing import Trailing, trailing
from pipelines.windows.tumbling import Tumbling, tumbling
from pipelines.windows.unique_sliding import Unique, unique_sliding

__all__ = [
    "AllTime",
    "Arrival",
    "Assignment",
    "Calendar",
    "Cumulating",
    "LimitedSession",
    "ProgressiveSort",
    "Session",
    "Sliding",
    "Trailing",
    "Tumbling",
    "Unique",
    "Window",
    "all_time",
    "arrival",
    "by_count",
    "by_delta",
    "by_punctuation",
    "by_time",
    "cumulating",
    "keep",
    "progressive_sort",
    "session",
    "sliding",
    "trailing",
    "tumbling",
    "unique_sliding",
]
