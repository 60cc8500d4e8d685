"""What is published, what is accumulated, and what must be derived anew. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.definition.schedule import Interval
from pipelines.store.paths import parse_states_path, version_of
from pipelines.timeline.closing import watermarks
from pipelines.timeline.history import Batch, History, history
from pipelines.timeline.ledger import Ledger
from pipelines.timeline.reconcile import reconcile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.jobs.bound import Bound
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
    """What must be derived anew of one window, and from what."""

    window: str
    published: Published
    states: Snapshot
    history: History
    marks: tuple[int, ...]
    work: Work


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
        pipeline, store: the definition and its state.
        asked: starts of the batches asked for; they say where history begins while nothing is published.
    """
    asked = list(asked)
    states = {frames.table: bound.store.snapshot(frames.table) for frames in bound.frame_sets}
    batches = {table: accumulated(bound, snapshot) for table, snapshot in states.items()}
    out = []
    for name, window in bound.windows.items():
        frames, was = bound.frames_of(name), published(bound.store, name)
        starts = was.ledger.by_start() if was.ledger else {}
        found = history(batches[frames.table], starts, asked, bound.pipeline.intervals, fill=bound.pipeline.on_gap == "empty")
        marks = watermarks(found.batches, bound.pipeline.marks_by)
        work = reconcile(window, frames.width_us, found.batches, marks, was.ledger, bound.derivation(name))
        out.append(Todo(name, was, states[frames.table], found, tuple(marks.tolist()), work))
    return out
