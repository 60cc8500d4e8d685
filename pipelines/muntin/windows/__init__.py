"""Kinds of windows: parameters, checks, and the assigner that turns sorted frames into ranges."""

from muntin.engine.assignment import Assignment
from muntin.windows.adjacent.between import Between, between
from muntin.windows.adjacent.while_same import WhileSame, while_same
from muntin.windows.adjacent.while_true import While, while_
from muntin.windows.all_time import AllTime, all_time
from muntin.windows.arrival.policies import by_count, by_delta, by_punctuation, by_time, keep
from muntin.windows.arrival.progressive_sort import ProgressiveSort, progressive_sort
from muntin.windows.arrival.window import Arrival, arrival
from muntin.windows.business_days import BusinessDays
from muntin.windows.calendar import Calendar, HalfMonths
from muntin.windows.cumulating import Cumulating, cumulating
from muntin.windows.given import Given, given
from muntin.windows.kind import Window
from muntin.windows.last_part import LastPart
from muntin.windows.right_closed import RightClosed
from muntin.windows.session import LimitedSession, OwnGapSession, Session, session
from muntin.windows.sliding import Sliding, sliding
from muntin.windows.trailing import Trailing, trailing
from muntin.windows.tumbling import Tumbling, tumbling
from muntin.windows.unique_sliding import Unique, unique_sliding

__all__ = [
    "AllTime",
    "Arrival",
    "Assignment",
    "Between",
    "BusinessDays",
    "Calendar",
    "Cumulating",
    "Given",
    "HalfMonths",
    "LastPart",
    "LimitedSession",
    "OwnGapSession",
    "ProgressiveSort",
    "RightClosed",
    "Session",
    "Sliding",
    "Trailing",
    "Tumbling",
    "Unique",
    "While",
    "WhileSame",
    "Window",
    "all_time",
    "arrival",
    "between",
    "by_count",
    "by_delta",
    "by_punctuation",
    "by_time",
    "cumulating",
    "given",
    "keep",
    "progressive_sort",
    "session",
    "sliding",
    "trailing",
    "tumbling",
    "unique_sliding",
    "while_",
    "while_same",
]
