"""A slow, obviously right program that says which windows must come out."""

from tests.oracle.aggregates import Agg
from tests.oracle.arrival import Arrival, Count, Delta, Keep, Punctuation, Time
from tests.oracle.calendar import Calendar, HalfMonths
from tests.oracle.cumulating import Cumulating
from tests.oracle.found import Judgement
from tests.oracle.holes import BusinessDays, LastPart, Samples
from tests.oracle.judge import Window, judge
from tests.oracle.judge_arrival import judge_arrival
from tests.oracle.kinds import DAY, SECOND, AllTime, OwnGapSession, Session, Sliding, Tumbling
from tests.oracle.right_closed import RightClosed
from tests.oracle.time import Batch
from tests.oracle.trailing import Trailing
from tests.oracle.unique import Unique

__all__ = [
    "DAY",
    "SECOND",
    "Agg",
    "AllTime",
    "Arrival",
    "Batch",
    "BusinessDays",
    "Calendar",
    "Count",
    "Cumulating",
    "Delta",
    "HalfMonths",
    "Judgement",
    "Keep",
    "LastPart",
    "OwnGapSession",
    "Punctuation",
    "RightClosed",
    "Samples",
    "Session",
    "Sliding",
    "Time",
    "Trailing",
    "Tumbling",
    "Unique",
    "Window",
    "judge",
    "judge_arrival",
]
