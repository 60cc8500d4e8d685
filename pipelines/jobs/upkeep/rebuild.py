"""Rebuild: after the content of states changed with the definition, read the batches that the newest earlier state has."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import from_us
from pipelines.definition.schedule import Interval
from pipelines.errors import DefinitionError, StateError
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.inputs import without_files
from pipelines.jobs.pending import accumulated
from pipelines.jobs.reports_table import last_accumulated, last_read_at
from pipelines.jobs.upkeep.outdated import Outdated
from pipelines.store.batch_facts import batches_of
from pipelines.store.delta import DeltaStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.definition.pipeline import Pipeline
    from pipelines.states.frames import Ints
    from pipelines.timeline.batches import Batches

_LOOKED = 100  # batches of another definition, to tell whether its schedule is the present one


def to_rebuild(pipeline: Pipeline, *, root: str | Path) -> list[Outdated]:
    """The batches to read and those that are purged, in order: none if there is no earlier state, or the present one has all.

    Raises:
        DefinitionError: the earlier state's batches are not of the present schedule.
    """
    bound = bind(pipeline, root)
    earlier = newest_earlier(bound)
    if earlier is None:
        return []
    present = _batches(bound)
    if not len(np.setdiff1d(_batches_of(earlier), present)):
        return []
    reports = last_accumulated(DeltaStore(str(earlier)))
    starts = sorted(reports)
    if not _fits(pipeline, starts):
        raise DefinitionError(
            f"the batches in {earlier} are not those of the present schedule, {pipeline.intervals}; "
            "say what to read, as muntin backfill FILE --start 2013-01-01 --end 2014-01-01"
        )
    lost = np.setdiff1d(np.array(starts, np.int64), present).tolist()
    lacking = [Interval(start, pipeline.intervals.after(start)) for start in lost]
    gone = {interval for interval in without_files(bound, lacking) if reports[interval.start_us]["rows_read"]}
    return [_outdated(interval, f"in the state {earlier.name}", purged=interval in gone) for interval in lacking]


def _outdated(interval: Interval, why: str, *, purged: bool) -> Outdated:
    reason = "no file any more" if purged else why
    return Outdated(from_us(interval.start_us), from_us(interval.end_us), reason, purged)


def left_behind(pipeline: Pipeline, root: str | Path) -> int:
    """The number of batches in `to_rebuild`; 0 where the earlier state is of another schedule."""
    bound = bind(pipeline, root)
    earlier = newest_earlier(bound)
    there = _batches_of(earlier) if earlier else np.empty(0, np.int64)
    lost = np.setdiff1d(there, _batches(bound)) if len(there) else there
    return len(lost) if len(lost) and _fits(pipeline, there[:_LOOKED].tolist()) else 0


def _batches_of(state: Path) -> Ints:
    """Starts of the batches that any frame set of a state has, ascending."""
    tables = [_of_table(state, table.name).start_us for table in sorted(state.glob("frames/*"))]
    return np.unique(np.concatenate([*tables, np.empty(0, np.int64)]))


def _of_table(state: Path, frames: str) -> Batches:
    """The batches of a frame set of any state."""
    snapshot = DeltaStore(str(state)).snapshot(f"frames/{frames}")
    return batches_of(f"{state}/frames/{frames}", snapshot.files, int)


def newest_earlier(bound: Bound) -> Path | None:
    """The state of the earlier definition that read a batch last; None if no earlier definition did."""
    present = Path(bound.folder)
    others = [folder for folder in sorted(present.parent.glob("*/")) if folder.name != present.name]
    ages = [(read_at, folder) for folder in others if (read_at := last_read_at(DeltaStore(str(folder))))]
    return max(ages)[1] if ages else None


def check_rebuilt(bound: Bound, window: str) -> None:
    """Refuse to show a window as empty that only an earlier definition has published.

    Raises:
        StateError: it is published under an earlier definition and not under this one.
    """
    present, published = Path(bound.folder), f"windows/{window}/_delta_log"
    if (present / published).exists():
        return
    others = [folder.name for folder in sorted(present.parent.glob("*/")) if (folder / published).exists()]
    if others:
        raise StateError(
            f"{bound.pipeline.name}: nothing of {window!r} is published under this definition at {present}, and there is something in "
            f"{', '.join(others)}: states hold something else now; "
            f"run muntin rebuild FILE --root {bound.root}, or read by the earlier definition"
        )


def _batches(bound: Bound) -> Ints:
    """Starts of the batches that all frame sets of a state have, ascending."""
    known = (accumulated(bound, frames.table, bound.store.snapshot(frames.table)).start_us for frames in bound.frame_sets)
    return reduce(np.intersect1d, known)


def _fits(pipeline: Pipeline, starts: Sequence[int]) -> bool:
    """Whether batches that start then fit the schedule: they begin at its borders, and two of them are neighbours."""
    after = {start: pipeline.intervals.after(start) for start in starts}
    try:
        for start, end in after.items():
            pipeline.intervals.intervals(start, end)
    except DefinitionError:
        return False
    return len(starts) == 1 or any(end in after for end in after.values())
