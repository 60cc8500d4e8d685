"""Finalize: reconcile published windows with the states, and stage the files of all that changed, in one Spark job."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from pipelines.definition.frame_sets import derivation, frame_set_of
from pipelines.definition.schedule import Interval
from pipelines.engine.tallies import NONE
from pipelines.jobs.finalize_task import Shard, finalize_shard
from pipelines.spark.tasks import run_tasks
from pipelines.store.paths import parse_states_path, version_of
from pipelines.timeline.closing import watermarks
from pipelines.timeline.history import Batch, History, history
from pipelines.timeline.ledger import Entry, Ledger
from pipelines.timeline.reconcile import Work, reconcile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import SparkSession

    from pipelines.definition.pipeline import Pipeline
    from pipelines.store.store import Snapshot, Store

SHARD_ROWS = 900_000
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


@dataclass(frozen=True, slots=True)
class StagedWindow:
    """Files of one window, staged, not yet published. JSON-able.

    Attributes:
        window: its name.
        schema: the Arrow schema of the files, serialized, base64.
        files: path below the window's staging folder, size, rows.
        starts: the batches whose windows these files replace.
        base_ledger: the ledger this was derived against; publishing needs it to be current still.
        ledger: the new one.
    """

    window: str
    schema: str
    files: list[dict[str, Any]]
    starts: list[int]
    base_ledger: str | None
    ledger: str


@dataclass(frozen=True, slots=True)
class Staged:
    """All that one finalize staged, and the intervals that accumulated batches still wait for."""

    folder: str
    windows: list[StagedWindow]
    missing: list[list[int]]

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Staged:
        facts = json.loads(text)
        return Staged(facts["folder"], [StagedWindow(**window) for window in facts["windows"]], facts["missing"])


def published(store: Store, window: str) -> Published:
    """What is published of a window now."""
    snapshot = store.snapshot(f"windows/{window}")
    path = next((file.path for file in snapshot.files if file.path.startswith("ledger")), None)
    text = store.footer(f"windows/{window}", path).get(LEDGER) if path else None
    return Published(snapshot, path, Ledger.loads(text) if text else None)


def accumulated(snapshot: Snapshot, pipeline: Pipeline) -> list[Batch]:
    """The batches of a table of states, in order."""
    by_batch: dict[int, list[Any]] = {}
    for file in snapshot.files:
        by_batch.setdefault(parse_states_path(file.path).batch_us, []).append(file)
    return [_batch(start, files, pipeline) for start, files in sorted(by_batch.items())]


def _batch(start_us: int, files: list[Any], pipeline: Pipeline) -> Batch:
    said = [parse_states_path(file.path) for file in files]
    newest = [path.newest_us for path in said if path.newest_us is not None]
    lows = [path.low_us for path in said if path.low_us is not None]
    highs = [path.high_us for path in said if path.high_us is not None]
    interval = Interval(start_us, pipeline.intervals.after(start_us))
    version = version_of(file.path for file in files)
    return Batch(
        interval, version, max(newest, default=None), min(lows, default=None), max(highs, default=None), sum(f.rows for f in files)
    )


def to_do(pipeline: Pipeline, store: Store, asked: Iterable[int]) -> list[Todo]:
    """What must be derived anew, window by window. Changes nothing."""
    asked, out = list(asked), []
    for name, window in pipeline.windows.items():
        frames = frame_set_of(pipeline, name)
        states, was = store.snapshot(frames.table), published(store, name)
        starts = was.ledger.by_start() if was.ledger else {}
        found = history(accumulated(states, pipeline), starts, asked, pipeline.intervals, fill=pipeline.on_gap == "empty")
        marks = watermarks(found.batches, pipeline.watermark)
        work = reconcile(window, frames.width_us, found.batches, marks, was.ledger, derivation(pipeline, name))
        out.append(Todo(name, was, states, found, tuple(marks.tolist()), work))
    return out


def finalize(pipeline: Pipeline, store: Store, spark: SparkSession, asked: Iterable[int]) -> Staged:
    """Stage the windows of everything that changed since they were published.

    Args:
        pipeline, store, spark: the definition, its state, the session.
        asked: starts of the batches asked for; they say where history begins while nothing is published.
    """
    folder = f"staging/{uuid4().hex}"
    todo = to_do(pipeline, store, asked)
    items = [shard for one in todo if one.work.positions for shard in shards(pipeline, store.root, one, folder)]
    results: dict[str, list[dict[str, Any]]] = {}
    for result in run_tasks(spark, finalize_shard, items):
        results.setdefault(result["window"], []).append(result)
    windows = [_staged(pipeline, one, results.get(one.window, [])) for one in todo if one.work.positions]
    staged = Staged(folder, windows, _missing(todo))
    if windows:
        Path(store.root, folder).mkdir(parents=True, exist_ok=True)
        Path(store.root, folder, "staged.json").write_text(staged.dumps(), encoding="utf-8")
    return staged


def _missing(todo: list[Todo]) -> list[list[int]]:
    return [list(hole) for hole in sorted({(hole.start_us, hole.end_us) for one in todo for hole in one.history.missing})]


def shards(pipeline: Pipeline, root: str, todo: Todo, folder: str) -> list[Shard]:
    """The shards of a window's work: so many that each reads about `SHARD_ROWS` states."""
    batches, work = todo.history.batches, todo.work
    files, rows = _needed(todo)
    wanted = {at: batches[at].interval.start_us if at < len(batches) else 0 for at in work.positions}
    count = max(1, round(rows / SHARD_ROWS)) if pipeline.keys else 1
    schema = todo.states.schema
    if schema is None or not files or not set(pipeline.keys) <= set(schema.names):
        return []
    return [
        Shard(pipeline, todo.window, root, files, schema, todo.marks, wanted, work.low_us, work.high_us, number, count, folder)
        for number in range(count)
    ]


def _needed(todo: Todo) -> tuple[list[tuple[str, int]], int]:
    """The files of states that the work may need, and how many states are in them."""
    position, work = todo.history.position(), todo.work
    files, rows = [], 0
    for file in todo.states.files:
        said = parse_states_path(file.path)
        at = position.get(said.batch_us, -1)
        if at < 0 or at > work.positions[-1] or said.low_us is None or said.high_us is None:
            continue
        if said.low_us < work.high_us and (at >= work.positions[0] or said.high_us >= work.low_us):
            files.append((file.path, at))
            rows += file.rows
    return files, rows


def _staged(pipeline: Pipeline, todo: Todo, results: list[dict[str, Any]]) -> StagedWindow:
    schema = results[0]["schema"] if results else base64.b64encode(_least_schema().serialize()).decode()
    return StagedWindow(
        todo.window,
        schema,
        [file for result in results for file in result["files"]],
        [todo.history.batches[at].interval.start_us for at in todo.work.positions],
        todo.published.ledger_path,
        _ledger(derivation(pipeline, todo.window), todo, results).dumps(),
    )


def _least_schema() -> pa.Schema:
    instant = pa.timestamp("us", tz="UTC")
    return pa.schema([("window_start", instant), ("window_end", instant), ("batch", instant)])


def _ledger(definition: str, todo: Todo, results: list[dict[str, Any]]) -> Ledger:
    """The old entries, with those of the recomputed batches made anew."""
    before = todo.published.ledger.by_start() if todo.published.ledger else {}
    anew = set(todo.work.positions)
    entries = []
    for at, batch in enumerate(todo.history.batches):
        entry = before.get(batch.interval.start_us)
        entries.append(_entry(at, batch, todo.marks[at], [r["tallies"] for r in results]) if at in anew or entry is None else entry)
    return Ledger(definition, tuple(entries))


def _entry(at: int, batch: Batch, mark_us: int, found: Sequence[dict[str, Any]]) -> Entry:
    opened = min((one["open"][at] for one in found if one["open"] is not None), default=NONE)
    windows, late, missed = (sum(one[name][at] for one in found) for name in ("windows", "late", "missed"))
    left = None if opened == NONE else opened
    return Entry(batch.interval.start_us, batch.version, mark_us, batch.low_us, batch.high_us, windows, late, missed, left)
