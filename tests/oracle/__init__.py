"""A slow, obviously right program that says which windows must come out."""

from tests.oracle.aggregates import Agg
from tests.oracle.arrival import Arrival, Count, Delta, Keep, Punctuation, Time
from tests.oracle.calendar import Calendar
from tests.oracle.cumulating import Cumulating
from tests.oracle.found import Judgement
from tests.oracle.judge import Window, judge
from tests.oracle.judge_arrival import judge_arrival
from tests.oracle.kinds import DAY, SECOND, AllTime, Session, Sliding, Tumbling
from tests.oracle.right_closed import RightClosed
from tests.oracle.time import Batch
from tests.oracle.unique import Unique

__all__ = [
    "DAY",
    "SECOND",
    "Agg",
    "AllTime",
    "Arrival",
    "Batch",
    "Calendar",
    "Count",
    "Cumulating",
    "Delta",
    "Judgement",
    "Keep",
    "Punctuation",
    "RightClosed",
    "Session",
    "Sliding",
    "Time",
    "Tumbling",
    "Unique",
    "Window",
    "judge",
    "judge_arrival",
]
