"""Windows from raw rows, by a slow and plain program that shares no line with the engine.

>>> day = [Batch(0, 10 * SECOND, [{"t": 1 * SECOND, "x": 2}, {"t": 9 * SECOND, "x": 5}])]
>>> judge(Tumbling(5 * SECOND), day, {"sum": Agg("sum", lambda row: row["x"])}).published
[{'window_start': 0, 'window_end': 5000000, 'sum': 2, 'batch': 0}, \
{'window_start': 5000000, 'window_end': 10000000, 'sum': 5, 'batch': 0}]
"""

from muntin.testing.oracle import pieces
from muntin.testing.oracle.aggregates import Agg
from muntin.testing.oracle.calendar import Calendar, HalfMonths
from muntin.testing.oracle.composed import Alone, Cumulating, RightClosed, Trailing
from muntin.testing.oracle.holes import BusinessDays, LastPart, Samples
from muntin.testing.oracle.judge import judge
from muntin.testing.oracle.judgement import Judgement, Window
from muntin.testing.oracle.kinds import DAY, SECOND, AllTime, OwnGapSession, Session, Sliding, Tumbling
from muntin.testing.oracle.time import Batch

__all__ = [
    "DAY",
    "SECOND",
    "Agg",
    "AllTime",
    "Alone",
    "Batch",
    "BusinessDays",
    "Calendar",
    "Cumulating",
    "HalfMonths",
    "Judgement",
    "LastPart",
    "OwnGapSession",
    "RightClosed",
    "Samples",
    "Session",
    "Sliding",
    "Trailing",
    "Tumbling",
    "Window",
    "judge",
    "pieces",
]
