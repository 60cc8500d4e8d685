"""Accumulate: the events of intervals become states, in one job of tasks and one commit per frame set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.frame_sets import FrameSet
from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.files.paths import AnyPath
from muntin.files.readable import readable_footer
from muntin.jobs.accumulate.forgotten_rows import with_forgotten
from muntin.jobs.accumulate.read_batches import Read, read_batches
from muntin.jobs.accumulate.summaries import check_share, summaries
from muntin.jobs.inputs.inputs import inputs_of_run, with_dimensions
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.pending import check_kept
from muntin.jobs.quarantine.refused_rows_kept import commit_refused, refused_by_others
from muntin.jobs.records.reports import Accumulated
from muntin.jobs.schema_check.same_versions import note_versions
from muntin.jobs.state.beside_forgetting import beside_forgetting
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.source_note import Columns, lacks, note, taken_in
from muntin.states.derived_columns import has_types, whole_schema
from muntin.states.forgotten_keys import Hashed
from muntin.states.frames import NO_INTS, Ints
from muntin.store.batch_facts import batches_of
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, source_of
from muntin.store.shared_files import others, replacement, within
from muntin.store.store import Change, File, Snapshot, after_conflicts, every_lock, locks
from muntin.tasks import Runner
from muntin.timeline.batches import Versions

_TRIES = 5


def accumulate(
    bound: Bound, runner: Runner, intervals: Sequence[Interval], *, allow_missing: bool = False
) -> list[Accumulated]:
    """Read the source of some intervals and replace their states.

    Two runs of the same batch at once: the first to commit wins; the other sees the same states and is done,
    or reads again, some times at most, if what it sees is not what it read. `allow_missing`: batches that
    were read before and have no file any more become empty; else they are an error.
    """
    summaries_of_batches: list[Accumulated] = []
    left = list(intervals)
    for _ in range(_TRIES):
        check_no_lost_commits(bound)
        current = with_dimensions(bound, written=True)
        # files with rows of a key go as soon as it is forgotten
        read_once = partial(_accumulated, current, runner, left, allow_missing=allow_missing)
        left_out, more, again = beside_forgetting(current, read_once)
        if not with_forgotten(current).forgotten.has_more_than(left_out):
            summaries_of_batches = summaries_of_batches + more
            left = again
        if not left:
            return sorted(summaries_of_batches, key=lambda each: each.interval)
    raise ConflictError(
        f"{', '.join(map(str, left))}: other runs keep replacing these batches; run again when they are done"
    )


def _accumulated(
    bound: Bound, runner: Runner, intervals: list[Interval], *, allow_missing: bool
) -> tuple[Hashed, list[Accumulated], list[Interval]]:
    """The forgotten keys left out, the summaries, and batches that another run wrote otherwise since."""
    bound = with_forgotten(bound)
    check_kept(bound, intervals)
    sets = bound.frame_sets
    bases = {frames.table: bound.store.snapshot(frames.table) for frames in sets}
    refused_base = bound.store.snapshot(QUARANTINE)
    with inputs_of_run(bound, runner, intervals, allow_missing=allow_missing) as given:
        task_files = _read(bound, runner, given, bases)
    check_share(bound, intervals, task_files)
    starts = np.array([interval.start_us for interval in intervals], np.int64)
    written = task_files.files
    if not commit_refused(bound, refused_base, starts, written[QUARANTINE]):
        return bound.forgotten, [], intervals
    if bound.source.dedupe_within_us is not None:
        from muntin.jobs.deduplication.kept_decisions import commit_ids

        commit_ids(bound, starts, written[IDS])
    if bound.pipeline.lookups:
        from muntin.jobs.inputs.dimensions.changed_rows import forget_other_versions
        from muntin.jobs.inputs.dimensions.lookup_log import commit_met

        forget_other_versions(bound)
        commit_met(bound, starts, written[LOOKED_UP])
    lost = {
        start
        for frames in sets
        for start in _commit_states(bound, frames, bases[frames.table], starts, task_files)
    }
    lost.update(refused_by_others(bound, starts, written[QUARANTINE]).tolist())
    noticed = noticed_columns(bound, task_files)
    note_versions(bound.folder)
    table = sets[0].table
    after = bound.pipeline.intervals.after
    batches = batches_of(bound.table(table), written[table], after)
    rests_on_more = bound.source.changes is not None or bool(bound.pipeline.lookups)
    if task_files.before is not None and len(starts) == 1 and not rests_on_more:
        from muntin.jobs.deduplication.kept_decisions import keep_of_one

        keep_of_one(
            bound, task_files.before, batches_of(bound.table(IDS), written[IDS], after), batches.decided
        )
    again = [interval for interval in intervals if interval.start_us in lost]
    own = [interval for interval in intervals if interval not in again]
    return bound.forgotten, summaries(bound, batches, own, task_files, noticed, given.hidden), again


def _read(bound: Bound, runner: Runner, given: Inputs, bases: Mapping[str, Snapshot]) -> Read:
    """Read batches, or what an earlier state lacks of them."""
    if bound.others:
        from muntin.jobs.accumulate.joined_reading import read

        return read(bound, runner, given, bases)
    return read_batches(bound, runner, given, {table: base.schema for table, base in bases.items()})


def _commit_states(
    bound: Bound, frames: FrameSet, base: Snapshot, starts: Ints, task_files: Read
) -> list[int]:
    """Replace the batches' states; return the batches that another run replaced by other states meanwhile."""
    table = frames.table
    folder, new, lost = bound.table(table), task_files.files[table], NO_INTS
    # a batch without files has few columns
    fullest = next((file for file in new if file.rows), max(new, key=lambda file: file.size, default=None))
    first = _columns(folder, fullest.path) if fullest else base.schema or pa.schema([])
    schemas = [first, *(_columns(folder, path) for path in task_files.wider[table])]
    for attempt in after_conflicts(
        _TRIES, f"{table}: other runs keep committing; run again when they are done"
    ):
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                before = _versions(bound, table, base.files, starts)
                base = bound.store.snapshot(table)
                now = _versions(bound, table, base.files, starts)
                own = _versions(bound, table, new, starts)
                replaced_batches = now != before
                lost = np.union1d(lost, starts[replaced_batches & (now != own)])
                new = [
                    left
                    for file in new
                    if (left := others(folder, file, starts[replaced_batches], bound.pipeline.keys))
                ]
                starts = starts[~replaced_batches]
            change = _replacing(bound, frames, base, starts, new, schemas)
            if change.adds or change.removes:
                bound.store.commit(table, base, change)
    return lost.tolist()


def _replacing(
    bound: Bound,
    frames: FrameSet,
    base: Snapshot,
    starts: Ints,
    new: Sequence[File],
    schemas: Sequence[pa.Schema],
) -> Change:
    """The commit that replaces batches.

    `schemas`: the columns of the new files; the first that of most of them.
    """
    folder = bound.table(frames.table)
    keys = bound.pipeline.keys
    schema_before = base.schema or schemas[0]
    if len(schemas) == 1 and has_types(schemas[0], schema_before):
        adds, removes = replacement(folder, base.files, starts, new, keys)
        return Change(schemas[0], adds, removes, locks(starts))
    from muntin.jobs.accumulate.wider_states import common_schema, in_types

    wide = common_schema([schema_before, *schemas])
    new = in_types(folder, new, wide, keys, bound.pipeline.intervals.after)
    adds, removes = replacement(folder, base.files, starts, new, keys)
    if has_types(schema_before, wide):
        return Change(wide, adds, removes, locks(starts))
    stay = [file for file in base.files if file not in removes]
    adds = in_types(folder, [*adds, *stay], wide, keys, bound.pipeline.intervals.after)
    return Change(wide, adds, base.files, every_lock(), whole=True)


def _versions(bound: Bound, table: str, files: Sequence[File], starts: Ints) -> Versions:
    """The version of each batch in some files; 0 where a batch is not in them."""
    batches = batches_of(
        bound.table(table),
        [file for file in files if len(within(starts, file.path))],
        bound.pipeline.intervals.after,
    )
    at = batches.position(starts)
    return np.where(at >= 0, np.append(batches.version, np.uint64(0))[at], np.uint64(0))


def _columns(folder: AnyPath, path: str) -> pa.Schema:
    return whole_schema(pq.read_schema(readable_footer(f"{folder}/{path}")))


def noticed_columns(bound: Bound, task_files: Read) -> dict[int, tuple[str, ...]]:
    """Start of a batch -> the difference of its files' columns from earlier files, in words; the columns are
    noted.
    """
    if not bound.members:
        return _of_source(bound, task_files)
    each = [_of_source(member, task_files, number) for number, member in enumerate(bound.members.values())]
    return {
        start: tuple(line for differences in each for line in differences[start])
        for start in task_files.splits
    }


def _of_source(bound: Bound, task_files: Read, number: int | None = None) -> dict[int, tuple[str, ...]]:
    """The differences in columns of the files of a source, by its number: start of a batch -> sentences."""
    lines = dict[int, tuple[str, ...]]()

    def more(all_columns: Columns) -> Columns:
        for start, of_batch in sorted(task_files.splits.items()):
            splits = [split for split in of_batch if source_of(split["split"]) == number]
            differences = lacks(split["lacks"] for split in splits if split.get("lacks"))
            for split in sorted(splits, key=lambda one: one["split"]):
                if split.get("columns"):
                    path, columns = split["columns"]
                    all_columns, new = taken_in(
                        all_columns, dict(columns), path, ordered=bound.source.format != "json"
                    )
                    differences += new
            lines[start] = tuple(differences)
        return all_columns

    note(bound.folder, more, bound.source.member)
    return lines
