"""Finalize: compare the published windows with the states, and stage the files of all windows that changed.

One job of tasks does it; but for windows that are handed from batch to batch, which are derived part by part
(see `timeline.parts`).

Settle: batches whose states follow an outdated decision about rows of other batches are read again, before
windows are made.

A batch is decided against the ids of the earlier batches that are known when it is read. Batches are read in
any order, at the same time, and again, so a decision may turn out wrong. Windows are made only of states
whose decisions are right:

batch 1 read      batch 3 read      batch 2 read      finalize: 3 is compared with 2, too; if other rows of it
are duplicates now,
                                                      it is read again
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from muntin.definition.instants import label
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import ConflictError, SourceError, StateError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.shard import shards_together
from muntin.jobs.published.as_defined import note_table
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.pending import check_work, pending_windows
from muntin.jobs.published.promotion import check_not_superseded
from muntin.jobs.published.staged_windows import STAGED_FILE, Staged, discarding, note_of, staged_window
from muntin.jobs.records.reports_table import record_accumulated, utc_now
from muntin.store.contents import problems_of_notes
from muntin.store.disk import write_whole
from muntin.timeline.batches import UNDECIDED, Batches
from muntin.timeline.carried import first_part, part_behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.jobs.finalize.shard import Shard
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.published.staged_windows import Part
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.tasks import Runner
    from muntin.timeline.batches import Versions
    from muntin.timeline.history import Work
_TRIES = 4
_WHY = {
    False: (
        "other rows of it are duplicates than when it was read (within= of rows): an earlier batch came "
        "later, or was replaced"
    ),
    True: "rows of later batches change rows of it or take them back (within= of rows)",
}


def settled(bound: Bound, runner: Runner, asked: Iterable[int]) -> list[Pending]:
    """The batches of each window to derive anew, from states whose decisions about duplicates are right.

    `asked`: as for `pending_windows`. A batch may have to be read again: its source must be there.
    """
    asked = list(asked)
    for _ in range(_TRIES):
        windows = pending_windows(bound, asked)
        wrong = wrongly_decided(bound, runner, windows) if bound.source.dedupe_within_us is not None else []
        if not wrong:
            return windows
        _read_again(bound, runner, wrong)
    raise ConflictError(
        f"{bound.pipeline.name}: other runs keep replacing batches; run again when they are done"
    )


def wrongly_decided(bound: Bound, runner: Runner, windows: Sequence[Pending]) -> list[Interval]:
    """The batches of the history of a window whose states were made by a decision that is not right."""
    from muntin.jobs.deduplication.decisions import decisions

    history_starts = reduce(
        np.intersect1d,
        (np.union1d(each.history.batches.start_us, each.history.waiting.start_us) for each in windows),
    )
    wanted = reduce(
        np.union1d,
        (batches.start_us[~batches.expired] for each in windows for batches in [each.history.batches]),
    )
    right = _with_met(bound, history_starts, decisions(bound, runner, history_starts, wanted))
    wrong_starts = (_wrong(each.history.batches, history_starts, right) for each in windows)
    after = bound.pipeline.intervals.after
    return [
        Interval(start, after(start))
        for start in sorted({start for starts in wrong_starts for start in starts.tolist()})
    ]


def _with_met(bound: Bound, starts: Ints, decided: Versions) -> Versions:
    """The names of decisions together with the names of what batches looked up."""
    if not bound.pipeline.lookups:
        return decided
    from muntin.jobs.deduplication.earlier import together
    from muntin.jobs.inputs.dimensions.lookup_log import noted_names

    pairs = zip(decided.tolist(), noted_names(bound, starts).tolist(), strict=True)
    return np.array([together(name, (met,)) if name != UNDECIDED else name for name, met in pairs], np.uint64)


def _wrong(batches: Batches, history_starts: Ints, right: np.ndarray) -> Ints:
    """Starts of the batches with another decision. States that are gone stay as they are."""
    at = np.searchsorted(history_starts, batches.start_us).clip(max=max(len(history_starts) - 1, 0))
    same = (
        (history_starts[at] == batches.start_us) & (right[at] == batches.decided)
        if len(history_starts)
        else np.zeros(len(batches), np.bool_)
    )
    return batches.start_us[~same & ~batches.expired]


def _read_again(bound: Bound, runner: Runner, wrong: Sequence[Interval]) -> None:
    try:
        batch_summaries = accumulate(bound, runner, wrong)
    except SourceError as gone:
        raise SourceError(
            f"{many(len(wrong), 'batch')} must be read again, the first {wrong[0]}, since"
            f" {_WHY[bound.source.changes is not None]}. Nothing was published. {gone}"
        ) from gone
    record_accumulated(bound.store, batch_summaries, utc_now(), decided_anew=True)


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
    with discarding(bound.store, folder, Exception):
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
