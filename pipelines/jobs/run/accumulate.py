"""Accumulate: the events of intervals become states, in one Spark job and one commit per frame set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import ConflictError
from pipelines.jobs.inputs import Inputs, inputs
from pipelines.jobs.reports import Accumulated, ReadFile
from pipelines.jobs.run.accumulate_task import Share, Split, accumulate_share, empty_states
from pipelines.jobs.run.source_columns import bound_types
from pipelines.sources.listing import shares, splits
from pipelines.spark.tasks import parallelism, run_tasks
from pipelines.states.columns import INSTANT
from pipelines.store.paths import parse_states_path, version_of
from pipelines.store.retries import after_conflicts
from pipelines.store.store import Change, File, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.definition.schedule import Interval
    from pipelines.jobs.bound import Bound

_TRIES = 5
QUARANTINE = "quarantine"
_REFUSED = pa.schema(
    [
        ("batch", INSTANT),
        ("reason", pa.string()),
        ("file", pa.string()),
        ("position", pa.int64()),
        ("event_time", pa.string()),
        ("row", pa.string()),
    ]
)


def accumulate(
    bound: Bound, spark: SparkSession, intervals: Sequence[Interval], *, forget: bool = False, tries: int = _TRIES
) -> list[Accumulated]:
    """Read the source of these intervals and replace their states.

    Two runs of the same batch at once: the first to commit wins; the other sees the same states and is done, or reads
    again if what it sees is not what it read.

    Args:
        bound: the definition beside its state.
        spark: the session.
        intervals: of the batches.
        forget: whether batches that were read before and have no file any more become empty.
        tries: how often other runs may come first.

    Raises:
        SourceError: the source cannot be read as the definition says, or a batch that was read before has no file any more.
        StateError: states cannot be written.
    """
    sets = bound.frame_sets
    bases = {frames.table: bound.store.snapshot(frames.table) for frames in sets}
    refused_base = bound.store.snapshot(QUARANTINE)
    given = inputs(bound, intervals, forget=forget)
    done = _read(bound, spark, given, bases)
    _commit_refused(bound, refused_base, intervals, done)
    lost: set[int] = set()
    for frames in sets:
        lost |= _commit_states(bound, frames, bases[frames.table], intervals, done)
    out = [_summary(interval, done[interval.start_us], sets[0]) for interval in intervals if interval.start_us not in lost]
    again = [interval for interval in intervals if interval.start_us in lost]
    if again and tries <= 1:
        raise ConflictError(f"{', '.join(map(str, again))}: other runs keep replacing these batches; run again when they are done")
    return sorted(out + accumulate(bound, spark, again, forget=forget, tries=tries - 1), key=lambda one: one.interval) if again else out


def _read(bound: Bound, spark: SparkSession, given: Inputs, bases: dict[str, Snapshot]) -> dict[int, list[dict[str, Any]]]:
    """Results by start of the batch: one a split, or one for a batch without files."""
    files, marks = given.files, given.marks
    pieces = [
        (
            Split(interval.start_us, interval.end_us, number, tuple(f.path for f in piece), marks.get(interval.start_us)),
            sum(f.size for f in piece),
        )
        for interval, found in files.items()
        for number, piece in enumerate(splits(found, whole=bound.source.arrival_order is not None))
    ]
    done: dict[int, list[dict[str, Any]]] = {interval.start_us: [] for interval in files}
    if pieces:
        targets = bound_types(bound, {name: base.schema for name, base in bases.items()}, [piece.paths for piece, _ in pieces])
        dealt = shares([size for _, size in pieces], 2 * parallelism(spark))
        items = [Share(bound, [pieces[at][0] for at in share], targets) for share in dealt]
        for result in (result for results in run_tasks(spark, accumulate_share, items) for result in results):
            done[result["batch"]].append(result)
    for start, results in done.items():
        if not results:
            nothing = {"split": 0, "read": 0, "taken": 0, "files": [], "refused": None, "refused_rows": 0}
            states = {table: empty_states(bound.folder, table, start, marks.get(start)) for table in bases}
            results.append({**nothing, "newest": marks.get(start), "states": states})
    return done


def _commit_refused(bound: Bound, base: Snapshot, intervals: Sequence[Interval], done: dict[int, list[dict[str, Any]]]) -> None:
    """Refused rows first: a batch that counts has its quarantine. Nothing to write is nothing to commit."""
    new = {interval.start_us: [one["refused"] for one in done[interval.start_us] if one["refused"]] for interval in intervals}
    given_up = f"{bound.pipeline.name}: other runs keep replacing the quarantine of these batches; run again when they are done"
    for attempt in after_conflicts(_TRIES, given_up):
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                base = bound.store.snapshot(QUARANTINE)
            change = _difference(base, new, _REFUSED, [])
            if change.adds or change.removes:
                bound.store.commit(QUARANTINE, base, change)


def _commit_states(
    bound: Bound, frames: FrameSet, base: Snapshot, intervals: Sequence[Interval], done: dict[int, list[dict[str, Any]]]
) -> set[int]:
    """Replace the batches' states; return the batches that somebody else replaced meanwhile by something else."""
    table, lost = frames.table, set[int]()
    new = {interval.start_us: [one["states"][table] for one in done[interval.start_us]] for interval in intervals}
    schema = _schema(bound, table, new, base)
    for attempt in after_conflicts(_TRIES, f"{table}: other runs keep committing; run again when they are done"):
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                before, base = _by_batch(base), bound.store.snapshot(table)
                now = _by_batch(base)
                taken = {start for start in new if now.get(start) != before.get(start)}
                lost |= {start for start in taken if {f.path for f in now.get(start, ())} != {f["path"] for f in new[start]}}
                new = {start: found for start, found in new.items() if start not in taken}
            change = _difference(base, new, schema, [f"{bound.pipeline.name}/{start}" for start in new])
            if change.adds or change.removes:
                bound.store.commit(table, base, change)
    return lost


def _by_batch(snapshot: Snapshot) -> dict[int, list[File]]:
    batches: dict[int, list[File]] = {}
    for file in snapshot.files:
        batches.setdefault(parse_states_path(file.path).batch_us, []).append(file)
    return batches


def _difference(base: Snapshot, new: dict[int, list[dict[str, Any]]], schema: pa.Schema, names: list[str]) -> Change:
    """What must be added and removed so that these batches consist of these files."""
    old = [file for start, found in _by_batch(base).items() if start in new for file in found]
    had, have = {file.path for file in old}, {file["path"] for found in new.values() for file in found}
    adds = [File(f["path"], f["size"], f["rows"]) for found in new.values() for f in found if f["path"] not in had]
    return Change(schema, adds, [file for file in old if file.path not in have], names)


def _schema(bound: Bound, table: str, new: dict[int, list[dict[str, Any]]], base: Snapshot) -> pa.Schema:
    """The columns of a file with the most of them: a batch without files knows few."""
    found = [file for files in new.values() for file in files]
    fullest = next((file for file in found if file["rows"]), max(found, key=lambda file: file["size"], default=None))
    if fullest is None:
        return base.schema or pa.schema([])
    return pq.read_schema(f"{bound.folder}/{table}/{fullest['path']}").remove_metadata()


def _summary(interval: Interval, results: list[dict[str, Any]], frames: FrameSet) -> Accumulated:
    newest = [one["newest"] for one in results if one["newest"] is not None]
    return Accumulated(
        interval,
        version_of(one["states"][frames.table]["path"] for one in results),
        sum(one["read"] for one in results),
        sum(one["taken"] for one in results),
        sum(one["refused_rows"] for one in results),
        max(newest, default=None),
        tuple(ReadFile(*entry) for one in sorted(results, key=lambda one: one["split"]) for entry in one["files"]),
    )
