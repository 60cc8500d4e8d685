"""The answers of a kind of source about its batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import pairwise, starmap
from typing import Any, Protocol, cast

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.sources.source import Source

_INSPECTED = 400  # intervals, until one has files


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of some batches.

    Attributes:
        files: of each interval, in order.
        watermarks_us: start of the interval -> the watermark after it, in microseconds, where the source says
            so itself.
        source: the source with what only reading tells of it, as the columns of a table; None: as it is
            defined.
        parts: name -> what the batches are read from of this source, where there are several; `files` names
            the source of a file then.
        hidden: how many files of an interval are passed over for their names.
    """

    files: Mapping[Interval, list[SourceFile]]
    watermarks_us: Mapping[int, int | None]
    source: Source | None = None
    parts: Mapping[str, Inputs] = field(default_factory=dict)
    hidden: Mapping[Interval, int] = field(default_factory=dict)

    def of(self, bound: Bound) -> Bound:
        """The definition with that source."""
        return (
            bound
            if self.source is None
            else replace(bound, pipeline=replace(bound.pipeline, source=self.source))
        )

    def only(self, intervals: Collection[Interval]) -> Inputs:
        """The inputs of some of the batches."""
        files = {
            interval: files_of_batch
            for interval, files_of_batch in self.files.items()
            if interval in intervals
        }
        return replace(
            self, files=files, parts={name: part.only(intervals) for name, part in self.parts.items()}
        )

    @staticmethod
    def joined(given: Sequence[Inputs]) -> Inputs:
        """The inputs of several groups of batches together; no batch is in two groups."""
        files = {
            interval: files_of_batch for each in given for interval, files_of_batch in each.files.items()
        }
        watermarks_us = {
            start: watermark_us for each in given for start, watermark_us in each.watermarks_us.items()
        }
        parts = {
            name: Inputs.joined([each.parts[name] for each in given])
            for name in (given[-1].parts if given else ())
        }
        hidden = {interval: count for each in given for interval, count in each.hidden.items()}
        return Inputs(files, watermarks_us, given[-1].source if given else None, parts, hidden)


def listing(source: Source) -> Listing:
    """The listing of a source."""
    return cast("Listing", import_module(source.listing))


class Listing(Protocol):
    """The functions of a module of `jobs/inputs/listings`."""

    def inputs(
        self, bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
    ) -> Inputs:
        """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them."""
        ...

    def without_files(self, bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
        """The intervals without files, as `muntin.jobs.inputs.inputs.without_files` gives them."""
        ...

    def difference(self, bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
        """The difference, as `muntin.jobs.inputs.inputs.difference` gives it."""
        ...

    def first_inputs(self, bound: Bound) -> Inputs:
        """The first inputs, as `muntin.jobs.inputs.inputs.first_inputs` gives them."""
        ...


def first_interval(bound: Bound, inputs: Callable[[Interval], Inputs]) -> Inputs:
    """The files of the first interval that has any.

    `inputs`: gives the files of an interval, or raises SourceError.
    """
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
