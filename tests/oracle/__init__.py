"""Programs beside the oracle that ships: of windows by arrival, of neighbours, of unique windows and of the other aggregates."""

from tests.oracle.arrival import Arrival, Count, Delta, Keep, Punctuation, Time
from tests.oracle.judge_arrival import judge_arrival
from tests.oracle.unique import Unique

__all__ = ["Arrival", "Count", "Delta", "Keep", "Punctuation", "Time", "Unique", "judge_arrival"]
