"""The classes behind the kinds of windows."""

from muntin.windows.kinds.all_time import AllTime
from muntin.windows.kinds.arrival import Arrival
from muntin.windows.kinds.between import Between
from muntin.windows.kinds.business_days import BusinessDays
from muntin.windows.kinds.calendar import Calendar, HalfMonths
from muntin.windows.kinds.cumulating import Cumulating
from muntin.windows.kinds.given import Given
from muntin.windows.kinds.last_part import LastPart
from muntin.windows.kinds.progressive_sort import ProgressiveSort
from muntin.windows.kinds.right_closed import RightClosed
from muntin.windows.kinds.session import LimitedSession, OwnGapSession, Session
from muntin.windows.kinds.sliding import Sliding
from muntin.windows.kinds.trailing import Trailing
from muntin.windows.kinds.tumbling import Tumbling
from muntin.windows.kinds.unique_sliding import Unique
from muntin.windows.kinds.while_same import WhileSame
from muntin.windows.kinds.while_true import While

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
