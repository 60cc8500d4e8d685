"""A slow, obviously right program that says which windows must come out."""

from tests.oracle.aggregates import Agg
from tests.oracle.judge import Judgement, judge
from tests.oracle.kinds import DAY, SECOND, Session, Sliding, Tumbling
from tests.oracle.time import Batch

__all__ = ["DAY", "SECOND", "Agg", "Batch", "Judgement", "Session", "Sliding", "Tumbling", "judge"]
