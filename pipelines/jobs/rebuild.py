"""Rebuild: after a definition changed what states hold, the batches that its newest earlier state has and the new one lacks."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.frame_sets import frame_sets
from pipelines.definition.instants import from_us
from pipelines.errors import DefinitionError, StateError
from pipelines.jobs.outdated import Outdated
from pipelines.jobs.reports import last_accumulated
from pipelines.jobs.todo import accumulated
from pipelines.store.delta import DeltaStore
from pipelines.store.state import state_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from pipelines.definition.pipeline import Pipeline


def to_rebuild(pipeline: Pipeline, *, root: str | Path) -> list[Outdated]:
    """The batches to read, in order; none if the pipeline has no earlier state or the present one has all of its batches.

    Raises:
        DefinitionError: the earlier state's batches are not of the present schedule.
    """
    earlier = newest_earlier(pipeline, root)
    if earlier is None:
        return []
    starts = sorted(last_accumulated(DeltaStore(str(earlier))))
    if not _fits(pipeline, starts):
        raise DefinitionError(
            f"the batches in {earlier} are not those of the present schedule, {pipeline.intervals}; "
            "say what to read, as muntin backfill FILE --start 2013-01-01 --end 2014-01-01"
        )
    there, why = _batches(pipeline, state_folder(pipeline, root)), f"in the state {earlier.name}"
    return [Outdated(from_us(start), from_us(pipeline.intervals.after(start)), why) for start in starts if start not in there]


def left_behind(pipeline: Pipeline, root: str | Path) -> int:
    """How many batches `to_rebuild` would name; none where the earlier state is of another schedule."""
    with suppress(DefinitionError):
        return len(to_rebuild(pipeline, root=root))
    return 0


def newest_earlier(pipeline: Pipeline, root: str | Path) -> Path | None:
    """The state under another definition that was accumulated into last; None if there is none."""
    present = Path(state_folder(pipeline, root))
    others = [folder for folder in sorted(present.parent.glob("*/")) if folder.name != present.name]
    reports: Mapping[Path, Mapping[int, Mapping[str, Any]]] = {each: last_accumulated(DeltaStore(str(each))) for each in others}
    read = [(max(said["recorded_at"] for said in found.values()), folder) for folder, found in reports.items() if found]
    return max(read)[1] if read else None


def check_rebuilt(pipeline: Pipeline, window: str, root: str | Path) -> None:
    """Refuse to take a state in which nothing is published yet for one without windows.

    Raises:
        StateError: only an earlier definition has published this window.
    """
    present, published = Path(state_folder(pipeline, root)), f"windows/{window}/_delta_log"
    if (present / published).exists():
        return
    others = [folder.name for folder in sorted(present.parent.glob("*/")) if (folder / published).exists()]
    if others:
        raise StateError(
            f"{pipeline.name}: nothing of {window!r} is published under this definition at {present}, and there is something in "
            f"{', '.join(others)}: states hold something else now; run muntin rebuild FILE --root {root}, or read by the earlier definition"
        )


def _batches(pipeline: Pipeline, folder: str) -> set[int]:
    """Starts of the batches that every frame set of a state has."""
    store = DeltaStore(folder)
    known = [{one.interval.start_us for one in accumulated(store.snapshot(frames.table), pipeline)} for frames in frame_sets(pipeline)]
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
