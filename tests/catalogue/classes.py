"""The classes behind the kinds of windows."""

from muntin.windows.adjacent.between import Between
from muntin.windows.adjacent.while_same import WhileSame
from muntin.windows.adjacent.while_true import While
from muntin.windows.all_time import AllTime
from muntin.windows.arrival.progressive_sort import ProgressiveSort
from muntin.windows.arrival.window import Arrival
from muntin.windows.business_days import BusinessDays
from muntin.windows.calendar import Calendar, HalfMonths
from muntin.windows.cumulating import Cumulating
from muntin.windows.given import Given
from muntin.windows.last_part import LastPart
from muntin.windows.right_closed import RightClosed
from muntin.windows.session import LimitedSession, OwnGapSession, Session
from muntin.windows.sliding import Sliding
from muntin.windows.trailing import Trailing
from muntin.windows.tumbling import Tumbling
from muntin.windows.unique_sliding import Unique

__all__ = [
    "AllTime",
    "Arrival",
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
]
