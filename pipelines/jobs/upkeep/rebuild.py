"""Rebuild: after a definition changed what states hold, the batches that its newest earlier state has and the new one lacks."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.instants import from_us
from pipelines.definition.schedule import Interval
from pipelines.errors import DefinitionError, StateError
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.inputs import without_files
from pipelines.jobs.pending import accumulated
from pipelines.jobs.reports_table import last_accumulated
from pipelines.jobs.upkeep.outdated import Outdated
from pipelines.store.delta import DeltaStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from pipelines.definition.pipeline import Pipeline


def to_rebuild(pipeline: Pipeline, *, root: str | Path) -> list[Outdated]:
    """The batches to read and those that are purged, in order: none if there is no earlier state, or the present one has all.

    Raises:
        DefinitionError: the earlier state's batches are not of the present schedule.
    """
    bound = bind(pipeline, root)
    earlier = _newest_earlier(bound)
    if earlier is None:
        return []
    reports = last_accumulated(DeltaStore(str(earlier)))
    starts = sorted(reports)
    if not _fits(pipeline, starts):
        raise DefinitionError(
            f"the batches in {earlier} are not those of the present schedule, {pipeline.intervals}; "
            "say what to read, as muntin backfill FILE --start 2013-01-01 --end 2014-01-01"
        )
    there = _batches(bound)
    lacking = [Interval(start, pipeline.intervals.after(start)) for start in starts if start not in there]
    gone = {each for each in without_files(bound, lacking) if reports[each.start_us]["rows_read"]}
    return [_outdated(each, f"in the state {earlier.name}", purged=each in gone) for each in lacking]


def _outdated(interval: Interval, why: str, *, purged: bool) -> Outdated:
    reason = "no file any more" if purged else why
    return Outdated(from_us(interval.start_us), from_us(interval.end_us), reason, purged)


def left_behind(pipeline: Pipeline, root: str | Path) -> int:
    """How many batches `to_rebuild` would name; none where the earlier state is of another schedule."""
    with suppress(DefinitionError):
        return len(to_rebuild(pipeline, root=root))
    return 0


def _newest_earlier(bound: Bound) -> Path | None:
    """The state under another definition that was accumulated into last; None if there is none."""
    present = Path(bound.folder)
    others = [folder for folder in sorted(present.parent.glob("*/")) if folder.name != present.name]
    reports: Mapping[Path, Mapping[int, Mapping[str, Any]]] = {each: last_accumulated(DeltaStore(str(each))) for each in others}
    read = [(max(said["recorded_at"] for said in found.values()), folder) for folder, found in reports.items() if found]
    return max(read)[1] if read else None


def check_rebuilt(bound: Bound, window: str) -> None:
    """Refuse to take a state in which nothing is published yet for one without windows.

    Raises:
        StateError: only an earlier definition has published this window.
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


def _batches(bound: Bound) -> set[int]:
    """Starts of the batches that every frame set of a state has."""
    known = [{one.interval.start_us for one in accumulated(bound, bound.store.snapshot(frames.table))} for frames in bound.frame_sets]
    return set.intersection(*known)


def _fits(pipeline: Pipeline, starts: Sequence[int]) -> bool:
    """Whether batches that start then are those of the schedule: on its borders, and some of them neighbours."""
    after = {start: pipeline.intervals.after(start) for start in starts}
    try:
        for start, end in after.items():
            pipeline.intervals.intervals(start, end)
    except DefinitionError:
        return False
    return len(starts) == 1 or any(end in after for end in after.values())
