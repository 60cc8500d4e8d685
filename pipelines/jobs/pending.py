"""What is published, what is accumulated, and what must be derived anew. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.instants import label
from pipelines.definition.schedule import Interval
from pipelines.jobs.notes import lost
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
    """What is published of a window: the table as it is, the path of its ledger, and the ledger."""

    snapshot: Snapshot
    ledger_path: str | None
    ledger: Ledger | None


@dataclass(frozen=True, slots=True)
class Todo:
    """What must be derived anew of one window, and from what.

    `known`: the published ledger without notes that are lost; `remarks`: what was found damaged, for people.
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
    text = store.footer(f"windows/{window}", path).get(LEDGER) if path else None
    return Published(snapshot, path, Ledger.loads(text) if text else None)


def accumulated(bound: Bound, snapshot: Snapshot) -> list[Batch]:
    """The batches of a table of states, in order."""
    by_batch: dict[int, list[File]] = {}
    for file in snapshot.files:
        by_batch.setdefault(parse_states_path(file.path).batch_us, []).append(file)
    return [_batch(start, files, bound) for start, files in sorted(by_batch.items())]


def _batch(start_us: int, files: list[File], bound: Bound) -> Batch:
    said = [parse_states_path(file.path) for file in files]
    newest = [path.newest_us for path in said if path.newest_us is not None]
    lows = [path.low_us for path in said if path.low_us is not None]
    highs = [path.high_us for path in said if path.high_us is not None]
    interval = Interval(start_us, bound.pipeline.intervals.after(start_us))
    rows = sum(file.rows for file in files)
    version = version_of(file.path for file in files)
    return Batch(interval, version, max(newest, default=None), min(lows, default=None), max(highs, default=None), rows)


def to_do(bound: Bound, asked: Iterable[int]) -> list[Todo]:
    """What must be derived anew, window by window.

    Args:
        bound: the pipeline.
        asked: starts of the batches asked for. They say where history begins while nothing is published; their published
            files are looked at, and derived again where they are gone.
    """
    asked, found = list(asked), _accumulated(bound)
    return [_todo(bound, name, asked, *found[frames.table]) for name, frames in bound.frames_by_window.items()]


def todo_of(bound: Bound, window: str) -> Todo:
    """What must be derived anew of one window, and from what."""
    return _todo(bound, window, [], *_accumulated(bound)[bound.frames_of(window).table])


def _accumulated(bound: Bound) -> dict[str, tuple[Snapshot, list[Batch]]]:
    """Table of a frame set -> the table now, and its batches."""
    states = {frames.table: bound.store.snapshot(frames.table) for frames in bound.frame_sets}
    return {table: (snapshot, accumulated(bound, snapshot)) for table, snapshot in states.items()}


def _todo(bound: Bound, name: str, asked: Sequence[int], states: Snapshot, batches: Sequence[Batch]) -> Todo:
    was = published(bound.store, name)
    starts = was.ledger.by_start() if was.ledger else {}
    found = history(batches, starts, asked, bound.pipeline.intervals, fill=bound.pipeline.on_gap == "empty")
    marks = watermarks(found.batches, bound.pipeline.marks_by)
    gone = _gone(bound, name, was, asked)
    work, known, problems = _whole_work(bound, name, found.batches, marks, was.ledger, gone)
    remarks = (*problems, *(f"windows of batch {label(start)}: files were gone" for start in gone))
    again = tuple(f"{name}: {remark}; derived again" for remark in remarks)
    return Todo(name, was, states, found, tuple(marks.tolist()), work, known, again)


def _whole_work(
    bound: Bound, name: str, batches: Sequence[Batch], marks: Ints, ledger: Ledger | None, gone: Sequence[int]
) -> tuple[Work, Ledger | None, tuple[str, ...]]:
    """The work, from notes that are whole; the ledger without the others; and what is wrong with these."""
    problems: tuple[str, ...] = ()
    while True:
        width_us, derived = bound.frames_of(name).width_us, ledger.without(gone) if ledger else None
        work = reconcile(bound.windows[name], width_us, batches, marks, derived, bound.derivation(name))
        found = lost(bound.folder, work.carry)
        if not found or ledger is None:
            return work, ledger, problems
        problems, ledger = (*problems, *found), ledger.without_note(work.carry)


def _gone(bound: Bound, name: str, was: Published, asked: Sequence[int]) -> list[int]:
    """The batches asked for of which a published file is not there any more."""
    labels = {label(start): start for start in asked}
    missing = {
        batch_of_windows(file.path)
        for file in was.snapshot.files
        if batch_of_windows(file.path) in labels and not Path(bound.folder, "windows", name, file.path).exists()
    }
    return sorted(labels[each] for each in missing)
