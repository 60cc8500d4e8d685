"""The diagnosis: all findings about a state, each with the command that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.amounts import many
from muntin.definition.instants import label
from muntin.files.paths import path_of
from muntin.jobs.doctor.disk import examine_disk
from muntin.jobs.doctor.examine import damaged_logs, examine
from muntin.jobs.doctor.finding import Finding
from muntin.jobs.reports_table import utc_now
from muntin.jobs.state_folders import bind_existing, stagings
from muntin.jobs.window_tables import place, published
from muntin.store.contents import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.bound import Bound

_REPAIR = "muntin repair FILE"


def diagnose(pipeline: Pipeline, *, root: str | AnyPath, deep: bool = False, now: datetime | None = None) -> list[Finding]:
    """Everything that is wrong with the state of a pipeline, and with the disk below it. Nothing is changed.

    Args:
        pipeline: the definition.
        root: the folder above the states.
        deep: whether every file is read and compared with its digest.
        now: the present; None: the clock tells.

    Raises:
        StateError: there is no state.
    """
    bound = bind_existing(pipeline, root)
    found = examine_disk(path_of(root), now or utc_now())
    logs = [
        Finding(str(path), problem, f"{_REPAIR}: derives again what the table lost with it")
        for problems in damaged_logs(bound).values()
        for path, problem in problems.items()
    ]
    return [*found, *logs, *(() if logs else _of_state(bound, deep=deep))]


def _of_state(bound: Bound, *, deep: bool) -> Iterator[Finding]:
    damage = examine(bound, deep=deep)
    for path in damage.files:
        yield Finding(str(path), problem_of(path) or "has another size", f"{_REPAIR}: derives it again")
    if damage.states:
        batches = f"{many(len(damage.states), 'batch')}, the first of {label(damage.states[0])}"
        yield Finding(bound.folder, f"states are lost or not reported: {batches}", f"{_REPAIR}: reads the source of these again")
    for window, starts in damage.windows.items():
        folder = place(bound.folder, published(bound.store, window).table)
        yield Finding(folder, f"windows of {many(len(starts), 'batch')} are lost", f"{_REPAIR}: derives them from states")
    for window, notes in damage.notes.items():
        paths = f"{many(len(notes), 'note')} of {window}, {notes[0][0]} first"
        yield Finding(f"{bound.folder}/carry", f"lost or damaged: {paths}", f"none needed: made again from states; {_REPAIR} forgets them")
    if left := stagings(path_of(bound.folder)):
        problem = f"{many(len(left), 'staged folder')} of runs at work, of failed suites, or of killed runs"
        yield Finding(f"{bound.folder}/staging", problem, "none needed; muntin vacuum removes old ones")
