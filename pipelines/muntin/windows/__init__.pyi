from muntin.windows.arrival_policies import by_count, by_delta, by_punctuation, by_time, keep
from muntin.windows.kinds.all_time import all_time
from muntin.windows.kinds.arrival import arrival
from muntin.windows.kinds.between import between
from muntin.windows.kinds.cumulating import cumulating
from muntin.windows.kinds.given import given
from muntin.windows.kinds.progressive_sort import progressive_sort
from muntin.windows.kinds.session import session
from muntin.windows.kinds.sliding import sliding
from muntin.windows.kinds.trailing import trailing
from muntin.windows.kinds.tumbling import tumbling
from muntin.windows.kinds.unique_sliding import unique_sliding
from muntin.windows.kinds.while_same import while_same
from muntin.windows.kinds.while_true import while_

__all__ = [
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
