"""The first interval of a schedule that has files."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise, starmap
from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.inputs.listings.listing import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.jobs.state.bound import Bound

_INSPECTED = 400  # intervals, until one has files


def first_interval(bound: Bound, inputs: Callable[[Interval], Inputs]) -> Inputs:
    """The files of the first interval that has any. `inputs`: gives the files of an interval, or raises SourceError."""
    for interval in first_intervals(bound):
        with suppress(SourceError):
            given = inputs(interval)
            if given.files.get(interval):
                return given
    return Inputs({}, {})


def first_intervals(bound: Bound) -> list[Interval]:
    """The first intervals of the schedule: as many as are searched for files."""
    schedule = bound.pipeline.intervals
    borders = [schedule.first_border_us]
    for _ in range(_INSPECTED):
        borders.append(schedule.after(borders[-1]))
    return list(starmap(Interval, pairwise(borders)))
