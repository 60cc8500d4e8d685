"""Finalize: compare the published windows with the states, and stage the files of all windows that changed.

One job of tasks does it; but for windows that are handed from batch to batch, which are derived part by part
(see `timeline.parts`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from muntin.definition.instants import label
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.jobs.finalize.settle import settled
from muntin.jobs.finalize.shard import shards_together
from muntin.jobs.published.given_tables import note_table
from muntin.jobs.published.kept_states import check_work
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.promotion import check_not_superseded
from muntin.jobs.published.staged_windows import STAGED_FILE, Staged, note_of, staged_window
from muntin.store.contents import problems_of_notes
from muntin.store.disk import write_whole
from muntin.timeline.carried import first_part, part_behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.jobs.finalize.shard import Shard
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.published.staged_windows import Part
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner
    from muntin.timeline.work import Work


def finalize(bound: Bound, runner: Runner, asked: Iterable[int], *, again: bool = False) -> Staged:
    """Stage the windows of all batches that changed since they were published.

    `asked`: starts of batches, which say where history begins while nothing is published. `again`: a
    superseded definition is to be current again; else it is refused.
    """
    if not again:
        check_not_superseded(bound)
    check_no_lost_commits(bound)
    folder = f"staging/{uuid4().hex}"
    windows = settled(bound, runner, asked)
    for pending in windows:
        _check_states(bound, pending)
        check_work(bound, pending)
        note_table(bound, pending)
    changed = [staged_window(bound, parts) for parts in _derived(bound, runner, windows, folder)]
    staged = Staged(
        folder, changed, _missing(windows), [remark for pending in windows for remark in pending.remarks]
    )
    if changed:
        write_whole(bound.folder / folder / STAGED_FILE, staged.dumps().encode())
    return staged


def _derived(bound: Bound, runner: Runner, windows: Sequence[Pending], folder: str) -> Iterable[list[Part]]:
    """The parts of the work of each window, in order, with the results of their shards; parts of several
    windows at once.
    """
    whole = {pending.window: pending.work for pending in windows if pending.work}
    parts_by_window: dict[str, list[Part]] = {window: [] for window in whole}
    parts = [replace(pending, work=first_part(pending.work)) for pending in windows if pending.work]
    while parts:
        results = _results(runner, shards_together(bound, parts, folder, runner.parallelism))
        for part in parts:
            parts_by_window[part.window].append((part, results[part.window]))
        rest = [(part, _behind(bound, whole[part.window], part, results[part.window])) for part in parts]
        parts = [replace(part, work=work) for part, work in rest if work]
    return parts_by_window.values()


def _behind(bound: Bound, whole: Work, part: Pending, results: Sequence[Mapping[str, Any]]) -> Work:
    """The next part of the work; never resumes from a note whose files are lost."""
    note = note_of(results, int(part.work.positions[-1]))
    while True:
        next_part = part_behind(whole, part.work, note)
        if (
            next_part.note == note
            or not problems_of_notes(bound.folder, next_part.note)
            or whole.stops is None
        ):
            return next_part
        whole = replace(whole, stops=whole.stops.without_note(next_part.note))


def _check_states(bound: Bound, pending: Pending) -> None:
    """Refuse to take published windows away because states of their batches are gone."""
    starts = pending.published.starts
    gone = starts[pending.history.batches.position(starts) < 0]
    if len(gone):
        schedule = bound.pipeline.intervals
        raise StateError(
            f"{bound.table(pending.published.table)} holds windows of {many(len(gone), 'batch')} whose states"
            f" are gone from {bound.folder}, the first of {label(int(gone[0]))}; was the folder removed? Run"
            f" all of them at once: muntin run FILE --root {bound.root}"
            f" {schedule.options(int(gone[0]), schedule.after(int(gone[-1])))}"
        )


def _results(runner: Runner, tasks: list[list[Shard]]) -> Mapping[str, list[dict[str, Any]]]:
    """Window -> the results of its shards."""
    # and with it the kernels, which validate and publish do not need
    from muntin.jobs.finalize.finalize_task import finalize_shards

    results: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for of_one_task in runner.run(finalize_shards, tasks):
        for result in of_one_task:
            results[result["window"]].append(result)
    return results


def _missing(windows: list[Pending]) -> list[list[int]]:
    """The missing intervals (start, end), over all windows."""
    return [
        list(hole)
        for hole in sorted(
            {(hole.start_us, hole.end_us) for pending in windows for hole in pending.history.missing}
        )
    ]
