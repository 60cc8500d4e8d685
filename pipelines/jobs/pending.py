"""Pending: what is published of a window, what is accumulated for it, and what must be derived anew. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.instants import label
from pipelines.definition.schedule import Interval
from pipelines.store.contents import problems_of_notes
from pipelines.store.paths import batch_of_windows, parse_states_path, version_of
from pipelines.timeline.closing import watermarks
from pipelines.timeline.history import Batch, History, history
from pipelines.timeline.ledger import Ledger
from pipelines.timeline.reconcile import reconcile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.jobs.bound import Bound
    from pipelines.states.frames import Ints
    from pipelines.store.store import File, Snapshot, Store
    from pipelines.timeline.work import Work

LEDGER = "muntin.ledger"


@dataclass(frozen=True, slots=True)
class Published:
    """What is published of a window: a snapshot of its table, the path of its ledger, and the ledger."""

    snapshot: Snapshot
    ledger_path: str | None
    ledger: Ledger | None


@dataclass(frozen=True, slots=True)
class Pending:
    """What must be derived anew of one window, and from what.

    Attributes:
        window: its name.
        published: what is published of it.
        states: the table of the states it is made of.
        history: the batches it is made of.
        marks: the watermark after each batch of the history, microseconds.
        work: the batches whose windows are derived anew, and the states to read.
        known: the published ledger, without notes whose files are lost; None if nothing is published.
        remarks: what was lost or damaged, for people.
    """

    window: str
    published: Published
    states: Snapshot
    history: History
    marks: tuple[int, ...]
    work: Work
    known: Ledger | None = None
    remarks: tuple[str, ...] = ()


def published(store: Store, window: str) -> Published:
    """What is published of a window now."""
    snapshot = store.snapshot(f"windows/{window}")
    path = next((file.path for file in snapshot.files if file.path.startswith("ledger")), None)
    return Published(snapshot, path, _ledger(store, window, path) if path else None)


@lru_cache(maxsize=8)
def _ledger(store: Store, window: str, path: str) -> Ledger | None:
    """A ledger's file is named by its content: several steps of a run read it."""
    text = store.footer(f"windows/{window}", path).get(LEDGER)
    return Ledger.loads(text) if text else None


def accumulated(bound: Bound, snapshot: Snapshot) -> list[Batch]:
    """The batches of a table of states, in order."""
    by_batch: dict[int, list[File]] = {}
    for file in snapshot.files:
        by_batch.setdefault(parse_states_path(file.path).batch_us, []).append(file)
    return [_batch(start, files, bound) for start, files in sorted(by_batch.items())]


def _batch(start_us: int, files: list[File], bound: Bound) -> Batch:
    paths = [parse_states_path(file.path) for file in files]
    newest = [path.newest_us for path in paths if path.newest_us is not None]
    lows = [path.low_us for path in paths if path.low_us is not None]
    highs = [path.high_us for path in paths if path.high_us is not None]
    interval = Interval(start_us, bound.pipeline.intervals.after(start_us))
    rows = sum(file.rows for file in files)
    version = version_of(file.path for file in files)
    return Batch(interval, version, max(newest, default=None), min(lows, default=None), max(highs, default=None), rows)


def pending_windows(bound: Bound, asked: Iterable[int]) -> list[Pending]:
    """What must be derived anew, window by window.

    Args:
        bound: the pipeline.
        asked: starts of the batches asked for. While nothing is published they say where history begins. Their published
            files are looked for, and are derived again if they are gone.
    """
    asked, tables = list(asked), _accumulated(bound)
    return [_pending(bound, name, asked, *tables[frames.table]) for name, frames in bound.frames_by_window.items()]


def pending_window(bound: Bound, window: str) -> Pending:
    """What must be derived anew of one window, and from what."""
    return _pending(bound, window, [], *_accumulated(bound)[bound.frames_of(window).table])


def _accumulated(bound: Bound) -> dict[str, tuple[Snapshot, list[Batch]]]:
    """Table of a frame set -> its snapshot, and its batches."""
    snapshots = {frames.table: bound.store.snapshot(frames.table) for frames in bound.frame_sets}
    return {table: (snapshot, accumulated(bound, snapshot)) for table, snapshot in snapshots.items()}


def _pending(bound: Bound, name: str, asked: Sequence[int], states: Snapshot, batches: Sequence[Batch]) -> Pending:
    now = published(bound.store, name)
    starts = now.ledger.by_start() if now.ledger else {}
    past = history(batches, starts, asked, bound.pipeline.intervals, fill=bound.pipeline.on_gap == "empty")
    marks = watermarks(past.batches, bound.pipeline.marks_by)
    lost = _batches_with_lost_files(bound, name, now, asked)
    work, known, problems = _work_from_whole_notes(bound, name, past.batches, marks, now.ledger, lost)
    reasons = (*problems, *(f"windows of batch {label(start)}: files were gone" for start in lost))
    remarks = tuple(f"{name}: {reason}; derived again" for reason in reasons)
    return Pending(name, now, states, past, tuple(marks.tolist()), work, known, remarks)


def _work_from_whole_notes(
    bound: Bound, name: str, batches: Sequence[Batch], marks: Ints, ledger: Ledger | None, lost: Sequence[int]
) -> tuple[Work, Ledger | None, tuple[str, ...]]:
    """The work, from a note whose files are all whole; the ledger without the other notes; and what is wrong with those.

    `lost`: starts of batches whose published files are lost; they count as new.
    """
    problems: tuple[str, ...] = ()
    while True:
        width_us, derived = bound.frames_of(name).width_us, ledger.without(lost) if ledger else None
        work = reconcile(bound.windows[name], width_us, batches, marks, derived, bound.derivation(name))
        more = problems_of_notes(bound.folder, work.note)
        if not more or ledger is None:
            return work, ledger, problems
        problems, ledger = (*problems, *more), ledger.without_note(work.note)


def _batches_with_lost_files(bound: Bound, name: str, now: Published, asked: Sequence[int]) -> list[int]:
    """The batches asked for that have lost a published file."""
    labels = {label(start): start for start in asked}
    lost = {
        batch_of_windows(file.path)
        for file in now.snapshot.files
        if batch_of_windows(file.path) in labels and not Path(bound.folder, "windows", name, file.path).exists()
    }
    return sorted(labels[batch] for batch in lost)
