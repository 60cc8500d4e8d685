"""Pending: what is published of a window, what is accumulated for it, and what must be derived anew.

Changes nothing.

States that are gone, as the definition's `retain` says; and the refusal of what would need them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.definition.durations import spell
from muntin.definition.instants import BEFORE_ALL, label, spell_instant
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.jobs.published.window_files import files_over, within
from muntin.jobs.published.window_tables import Published, published
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.given_spans import as_published
from muntin.states.frames import Ints
from muntin.store.batch_facts import batches_of
from muntin.store.contents import problems_of_notes
from muntin.store.store import Snapshot
from muntin.timeline.batches import Batches, spelled
from muntin.timeline.closing import watermarks
from muntin.timeline.history import History, Work, history, missing_states, reaching
from muntin.timeline.ledger import Ledger
from muntin.timeline.reconcile import reconcile


@dataclass(frozen=True, slots=True)
class Pending:
    """The batches of one window to derive anew, and the states to derive them from.

    Attributes:
        window: its name.
        published: what is published of it.
        states: the table of the states it is made of.
        history: the batches it is made of.
        watermarks_us: the watermark after each batch of the history, microseconds.
        work: the batches whose windows are derived anew, and the states to read.
        sound_ledger: the published ledger, without notes whose files are lost; None if nothing is published.
        remarks: what was lost or damaged, for people.
    """

    window: str
    published: Published
    states: Snapshot
    history: History
    watermarks_us: Ints
    work: Work
    sound_ledger: Ledger | None = None
    remarks: tuple[str, ...] = ()


def accumulated(bound: Bound, table: str, snapshot: Snapshot | None = None) -> Batches:
    """The batches of a table of states, in order, as a snapshot or as it is now."""
    files = (snapshot or bound.store.snapshot(table)).files
    return batches_of(bound.table(table), files, bound.pipeline.intervals.after)


def read_everywhere(bound: Bound) -> Batches:
    """The batches that every frame set has."""
    first, *others = (accumulated(bound, frames.table) for frames in bound.frame_sets)
    for other in others:
        first = first.take(other.position(first.start_us) >= 0)
    return first


def versions(bound: Bound) -> dict[int, str]:
    """Start of a batch -> version of its states, for the batches that every frame set has."""
    return spelled_versions(read_everywhere(bound))


def spelled_versions(batches: Batches) -> dict[int, str]:
    """Start of a batch -> version of its states."""
    return dict(zip(batches.start_us.tolist(), map(spelled, batches.version.tolist()), strict=True))


def pending_windows(bound: Bound, asked: Iterable[int]) -> list[Pending]:
    """The pending work, window by window.

    `asked`: starts of the batches asked for. While nothing is published they say where history begins. Their
    published files are searched, and are derived again if they are gone.
    """
    asked, tables = list(asked), _accumulated(bound)
    return [
        _pending(bound, name, asked, *tables[frames.table]) for name, frames in bound.frames_by_window.items()
    ]


def pending_window(bound: Bound, window: str) -> Pending:
    """The pending work of one window."""
    return _pending(bound, window, [], *_accumulated(bound)[bound.frames_of(window).table])


def _accumulated(bound: Bound) -> dict[str, tuple[Snapshot, Batches]]:
    """Table of a frame set -> its snapshot, and its batches."""
    snapshots = {frames.table: bound.store.snapshot(frames.table) for frames in bound.frame_sets}
    return {table: (snapshot, accumulated(bound, table, snapshot)) for table, snapshot in snapshots.items()}


def _pending(bound: Bound, name: str, asked: Sequence[int], states: Snapshot, batches: Batches) -> Pending:
    now = published(bound.store, name)
    past = history(
        batches,
        now.starts,
        np.array(asked, np.int64),
        bound.pipeline.intervals,
    )
    watermarks_us = watermarks(past.batches, bound.pipeline.watermarking)
    lost = _batches_with_lost_files(bound, now, asked)
    work, usable_ledger, problems = _work_from_whole_notes(
        bound, name, past.batches, watermarks_us, now.ledger, lost
    )
    reasons = (*problems, *(f"windows of batch {label(start)}: files were gone" for start in lost))
    remarks = tuple(f"{name}: {reason}; derived again" for reason in reasons)
    return Pending(name, now, states, past, watermarks_us, work, usable_ledger, remarks)


def _work_from_whole_notes(
    bound: Bound, name: str, batches: Batches, watermarks_us: Ints, ledger: Ledger | None, lost: Sequence[int]
) -> tuple[Work, Ledger | None, tuple[str, ...]]:
    """The work, from a note whose files are all whole; the ledger without damaged notes; and the problems of
    the damaged notes.

    `lost`: starts of batches whose published files are lost; they count as changed.
    """
    problems: tuple[str, ...] = ()
    while True:
        width_us, derived = bound.frames_of(name).width_us, ledger.doubted(lost) if ledger else None
        was = as_published(bound, name, derived)
        if was is None:
            problems, ledger = (*problems, "the table that windows were published by is lost"), None
            continue
        work = reconcile(
            bound.windows[name], width_us, batches, watermarks_us, derived, bound.derivation(name), was
        )
        more = problems_of_notes(bound.folder, work.note)
        if not more or ledger is None:
            return work, ledger, problems
        problems, ledger = (*problems, *more), ledger.without_note(work.note)


def _batches_with_lost_files(bound: Bound, now: Published, asked: Sequence[int]) -> list[int]:
    """The batches asked for that have lost a published file, and the other batches that may have lost windows
    with it.
    """
    starts = np.array(sorted(asked), np.int64)
    folder, lost = bound.table(now.table), set[int]()
    for file, first, last in files_over(now.snapshot.files, starts):
        if not (folder / file.path).is_file():
            lost.update(within(now.starts, first, last).tolist(), within(starts, first, last).tolist())
    return sorted(lost)


def expired_to(bound: Bound) -> int:
    """The end of the last batch whose states are gone, microseconds; `BEFORE_ALL` while all are there."""
    tables = (accumulated(bound, frames.table) for frames in bound.frame_sets)
    return max(
        (int(batches.end_us[batches.expired].max(initial=BEFORE_ALL)) for batches in tables),
        default=BEFORE_ALL,
    )


def check_kept(bound: Bound, intervals: Sequence[Interval]) -> None:
    """Refuse to read batches again that lie among batches whose states are gone, if the definition still says
    so.
    """
    if gone := without_states(bound, intervals):
        to_us, first = expired_to(bound), gone[0]
        raise StateError(
            f"{bound.pipeline.name}: {refusal(bound, to_us)}, so {first} cannot be read again: its windows"
            f" hold rows of the batches around it. Begin at {spell_instant(to_us)}; or leave retain out of"
            " the definition, and run all batches before that again, at once"
        )


def without_states(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that must not be read again: intervals before the last batch whose states are gone, while
    the definition says so.
    """
    if bound.pipeline.retention.states_us is None:
        return []
    to_us = expired_to(bound)
    return sorted(
        (interval for interval in intervals if interval.start_us < to_us),
        key=lambda interval: interval.start_us,
    )


def readable(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The other intervals, in order."""
    gone = set(without_states(bound, intervals))
    return [interval for interval in intervals if interval not in gone]


def refusal(bound: Bound, to_us: int) -> str:
    """The reason why states are gone, for a sentence."""
    kept_us = bound.pipeline.retention.states_us
    reason = f" (retain says {spell(kept_us)})" if kept_us else ""
    return f"states of batches before {spell_instant(to_us)} are gone{reason}"


def check_work(bound: Bound, pending: Pending) -> None:
    """Refuse to derive windows that lack states."""
    gone = missing_states(pending.history.batches, pending.work)
    if len(gone):
        batches = pending.history.batches.take(gone)
        raise StateError(
            f"{bound.pipeline.name}: windows of {pending.window} are to be derived from the states of"
            f" {many(len(gone), 'batch')} that are gone, {stretch(batches)}, as retain says. Nothing was"
            " published. Take back what makes them differ, as a change of the definition; or leave retain"
            f" out of it, and read these batches again, at once: muntin run FILE --root {bound.root}"
            f" {bound.pipeline.intervals.options(int(batches.start_us[0]), int(batches.end_us[-1]))}"
        )


def stretch(batches: Batches) -> str:
    """The time range of some batches."""
    return str(Interval(int(batches.start_us[0]), int(batches.end_us[-1])))


def are_gone(batches: Batches, low_us: int, high_us: int) -> bool:
    """Whether states of frames in `[low_us, high_us)` are gone."""
    return bool((batches.expired & reaching(batches, low_us, high_us)).any())
