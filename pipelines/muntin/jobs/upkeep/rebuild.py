"""Rebuild: after the content of states changed with the definition, read the batches that the newest earlier
state has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import from_us
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, StateError
from muntin.files.paths import folders_in
from muntin.jobs.inputs.inputs import without_files
from muntin.jobs.published.as_defined import check_as_defined
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import current, published
from muntin.jobs.records.reports_table import last_accumulated, newest_read
from muntin.jobs.state import definition_note
from muntin.states.frames import NO_INTS, Ints
from muntin.store.batch_facts import batches_of
from muntin.store.delta import DeltaStore
from muntin.store.state import WINDOWS, states_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.jobs.upkeep.outdated import Outdated
    from muntin.timeline.batches import Batches

_INSPECTED = 100  # batches of another definition, to tell whether its schedule is the present schedule


@dataclass(frozen=True, slots=True)
class _Behind:
    """The batches that the newest earlier state has and the present state lacks.

    Attributes:
        state: the folder of the earlier state.
        starts: of the batches, ascending; at least one.
        fits: whether they are of the present schedule.
    """

    state: AnyPath
    starts: Ints
    fits: bool


def to_rebuild(bound: Bound) -> list[Outdated]:
    """The batches to read and the purged batches, in order: none if there is no earlier state, or the present
    state has all.

    Batches that are not of the present schedule are an error.
    """
    backlog = _behind(bound)
    if backlog is None:
        return []
    if not backlog.fits:
        raise DefinitionError(
            f"the batches in {backlog.state} are not those of the present schedule,"
            f" {bound.pipeline.intervals}; say what to read, as muntin run FILE --start 2013-01-01 --end"
            " 2014-01-01"
        )
    return [
        _outdated(interval, f"in the state {backlog.state.name}", purged=gone)
        for interval, gone in _purged(bound, backlog).items()
    ]


def _outdated(interval: Interval, why: str, *, purged: bool) -> Outdated:
    from muntin.jobs.upkeep.outdated import Outdated

    reason = "no file any more" if purged else why
    return Outdated(from_us(interval.start_us), from_us(interval.end_us), reason, purged)


def left_behind(bound: Bound) -> int:
    """The number of batches in `to_rebuild`; 0 where the earlier state is of another schedule."""
    backlog = _behind(bound)
    return len(backlog.starts) if backlog and backlog.fits else 0


def _behind(bound: Bound) -> _Behind | None:
    """None if there is no earlier state, or the present state has all of its batches."""
    earlier = newest_earlier(bound)
    there = _batches_of(earlier) if earlier else NO_INTS
    lost = np.setdiff1d(there, _batches(bound)) if len(there) else there
    return _Behind(earlier, lost, _is_of(bound.pipeline, earlier, there)) if earlier and len(lost) else None


def _purged(bound: Bound, backlog: _Behind) -> dict[Interval, bool]:
    """The batches that a state lacks, in order -> whether rows were read of them and there is no file any
    more.
    """
    missing_batches = [
        Interval(start, bound.pipeline.intervals.after(start)) for start in backlog.starts.tolist()
    ]
    reports = last_accumulated(DeltaStore(backlog.state), missing_batches)
    empty = {start for start, report in reports.items() if not report["rows_read"]}
    gone = {interval for interval in without_files(bound, missing_batches) if interval.start_us not in empty}
    return {interval: interval in gone for interval in missing_batches}


def _batches_of(state: AnyPath) -> Ints:
    """Starts of the batches that any frame set of a state has, ascending."""
    tables = [_of_table(state, table.name).start_us for table in folders_in(state / "frames")]
    return np.unique(np.concatenate([*tables, NO_INTS]))


def _of_table(state: AnyPath, frames: str) -> Batches:
    """The batches of a frame set of any state."""
    snapshot = DeltaStore(state).snapshot(f"frames/{frames}")
    return batches_of(state / "frames" / frames, snapshot.files, int)


def newest_earlier(bound: Bound) -> AnyPath | None:
    """The state of the earlier definition that read a batch last; None if no earlier definition did."""
    return newest_read(bound.others)


def check_rebuilt(bound: Bound, window: str) -> None:
    """Refuse to show a window as empty that only an earlier definition has published, or windows of another
    definition as of this.
    """
    check_as_defined(bound, window)
    if published(bound.store, window).ledger:
        return
    readers, home = current(bound.store, window), bound.home
    earlier = [folder for folder in states_of(home) if (folder / WINDOWS / window / "_delta_log").exists()]
    if readers.ledger or earlier:
        place = home / WINDOWS / window if readers.ledger else earlier[0] / WINDOWS / window
        raise StateError(
            f"{bound.pipeline.name}: nothing of {window!r} is published under this definition, and {place}"
            " holds windows of an earlier one: states hold something else now; run muntin run --rebuild FILE"
            f" --root {bound.root}, or read by the earlier definition"
        )


def _batches(bound: Bound) -> Ints:
    """Starts of the batches that all frame sets of a state have, ascending."""
    starts_of_tables = (accumulated(bound, frames.table).start_us for frames in bound.frame_sets)
    return reduce(np.intersect1d, starts_of_tables)


def _is_of(pipeline: Pipeline, earlier: AnyPath, starts: Ints) -> bool:
    """Whether an earlier state is of the present schedule: as it is noted there, else as its batches tell."""
    noted = definition_note.read(earlier)
    return (
        noted["schedule"] == str(pipeline.intervals)
        if noted
        else _fits(pipeline, starts[:_INSPECTED].tolist())
    )


def _fits(pipeline: Pipeline, starts: Sequence[int]) -> bool:
    """Whether batches that start then fit the schedule: they begin at its borders, and two of them are
    neighbours.
    """
    after = {start: pipeline.intervals.after(start) for start in starts}
    try:
        for start, end in after.items():
            pipeline.intervals.intervals(start, end)
    except DefinitionError:
        return False
    return len(starts) == 1 or any(end in after for end in after.values())
