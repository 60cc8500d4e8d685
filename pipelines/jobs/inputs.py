"""What a batch is read from: the one place that knows which kind of source asks which listing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipelines.errors import SourceError
from pipelines.jobs.listings import of_files, of_spark, of_tables, of_topics, of_windows
from pipelines.sources import FileSource, KafkaSource, SparkSource, TableSource, WindowSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.schedule import Interval
    from pipelines.jobs.bound import Bound
    from pipelines.jobs.listings.listing import Inputs, Listing
    from pipelines.sources import Source
    from pipelines.sources.listing import SourceFile

_LISTINGS: Mapping[type, Listing] = {
    FileSource: of_files,
    KafkaSource: of_topics,
    SparkSource: of_spark,
    TableSource: of_tables,
    WindowSource: of_windows,
}


def _listing(source: Source) -> Listing:
    return _LISTINGS[type(source)]


def inputs(bound: Bound, intervals: Sequence[Interval], *, forget: bool = False, keep: bool = False, there: bool = False) -> Inputs:
    """The files of some intervals.

    Args:
        bound: the definition beside its state.
        intervals: of the batches.
        forget: whether an interval without files is an empty batch, whatever was read of it before.
        there: whether a source that knows what a batch holds sees that all of it is still there.
        keep: whether they are about to be read, so that a source which must remember what a batch holds notes it in the state.

    Raises:
        SourceError: an interval has none, and the source says that is an error, or rows were read of it before; a file
            belongs to two of the intervals; the upstream has not published one; or messages of one are gone.
        BrokerError: a broker cannot be used.
    """
    return _listing(bound.source).inputs(bound, intervals, forget=forget, keep=keep, there=there)


def inputs_of_each(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, Inputs | SourceError]:
    """As `inputs` of each interval alone, which may be an error; the source is asked once where none is."""
    with suppress(SourceError):
        given = inputs(bound, intervals)
        return {interval: replace(given, files={interval: given.files[interval]}) for interval in intervals}
    return {interval: _inputs_or_error(bound, interval) for interval in intervals}


def _inputs_or_error(bound: Bound, interval: Interval) -> Inputs | SourceError:
    try:
        return inputs(bound, [interval])
    except SourceError as wrong:
        return wrong


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that the source has no files of; none where files do not say what a batch holds."""
    return _listing(bound.source).without_files(bound, intervals)


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a batch differ from those in its report; None if they do not."""
    return _listing(bound.source).difference(bound, report, files)


def first_inputs(bound: Bound) -> Inputs:
    """The files of the first interval that has any, to check a definition by; no files where none of the first intervals has."""
    return _listing(bound.source).first_inputs(bound)
