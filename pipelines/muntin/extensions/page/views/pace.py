"""The pace of a pipeline: what its newest batch took beside what batches usually take, and when the next is
expected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.extensions.page.views.trends import Week
from muntin.jobs.records.batch_status import BatchStates


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a pipeline.

    Attributes:
        took_s: seconds of the newest batch that was published.
        usual_s: the median of the batches of the week before it; None: there are none.
        next: the interval whose publication is expected next; None of a pipeline that works through the past,
            or that windows of another pipeline start.
        expected_us: when, microseconds: as long after the end of the interval as is usual.
    """

    took_s: float
    usual_s: float | None
    next: Interval | None
    expected_us: int | None

    @property
    def is_slow(self) -> bool:
        """Whether the newest batch took more than twice as long as is usual."""
        return self.usual_s is not None and self.took_s > 2 * self.usual_s


def pace(pipeline: Pipeline, last_week: Week | None, states: BatchStates | None) -> Pace | None:
    """The pace of a pipeline; None before the first publication."""
    if last_week is None:
        return None
    *before, took_s = last_week.took_s.tolist()
    usual_s = float(np.median(before)) if before else None
    if states is None or states.last is None or not states.keeps_up or pipeline.origin.upstream is not None:
        return Pace(took_s, usual_s, None, None)
    coming = Interval(states.last[1], pipeline.intervals.after(states.last[1]))
    lag_s = last_week.usual_lag_s or 0.0
    return Pace(took_s, usual_s, coming, coming.end_us + round(lag_s) * 1_000_000)
