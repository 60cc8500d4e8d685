"""The first interval of a schedule that has files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.listings.listing import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.jobs.bound import Bound

_LOOKED = 400  # intervals, until one has files


def first_interval(bound: Bound, inputs: Callable[[Interval], Inputs]) -> Inputs:
    """The files of the first interval that has any. `inputs`: gives those of an interval, or raises SourceError."""
    at = bound.pipeline.intervals.after(bound.pipeline.intervals.first_us - 1)
    for _ in range(_LOOKED):
        interval = Interval(at, bound.pipeline.intervals.after(at))
        with suppress(SourceError):
            given = inputs(interval)
            if given.files.get(interval):
                return given
        at = interval.end_us
    return Inputs({}, {})
