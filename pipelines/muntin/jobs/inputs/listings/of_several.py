"""Several sources: a batch has the files of all sources, source by source.

If a source lacks files, the batch lacks them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muntin.errors import MuntinError
from muntin.jobs.inputs.listings.listing import Inputs, listing
from muntin.jobs.inputs.purged import purged
from muntin.jobs.records.reports_table import report_of_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them; an error names its source."""
    parts = {}
    for name, member in bound.members.items():
        with telling(name):
            parts[name] = listing(member.source).inputs(
                member, intervals, allow_missing=allow_missing, keep=keep, there=there
            )
    return together(parts)


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that one of the sources has no files of, and has had rows of in the state."""
    members = bound.members.values()
    purged_intervals = {
        interval
        for member in members
        for interval in purged(member, listing(member.source).without_files(member, intervals))
    }
    return [interval for interval in intervals if interval in purged_intervals]


def first_inputs(bound: Bound) -> Inputs:
    """The first files of each source, which may be of different intervals."""
    parts = {}
    for name, member in bound.members.items():
        with telling(name):
            parts[name] = listing(member.source).first_inputs(member)
    return together(parts)


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a source differ from its files in the report of a batch; None if no source's files
    differ.
    """
    for name, member in bound.members.items():
        own = [replace(file, source=None) for file in files if file.source == name]
        if reason := listing(member.source).difference(member, report_of_source(report, name), own):
            return f"{name}: {reason}"
    return None


@contextmanager
def telling(name: str) -> Iterator[None]:
    """A context whose errors name a source."""
    try:
        yield
    except MuntinError as wrong:
        raise type(wrong)(f"source {name!r}: {wrong}") from wrong


def together(parts: Mapping[str, Inputs]) -> Inputs:
    """The inputs of the batches of all sources. `parts`: name -> the inputs of one source."""
    intervals = sorted({interval for part in parts.values() for interval in part.files})
    files = {
        interval: [
            replace(file, source=name)
            for name, part in parts.items()
            for file in part.files.get(interval, ())
        ]
        for interval in intervals
    }
    hidden = {
        interval: sum(part.hidden.get(interval, 0) for part in parts.values()) for interval in intervals
    }
    return Inputs(files, {}, parts=parts, hidden=hidden)
