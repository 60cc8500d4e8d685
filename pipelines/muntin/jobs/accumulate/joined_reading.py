"""Batches of an earlier state with new fields: the fields are read from the source, and joined with the
earlier states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from muntin.files.paths import AnyPath, remove_folder
from muntin.jobs.accumulate.bundles import MOST_BATCHES, MOST_BYTES, MOST_ROWS
from muntin.jobs.accumulate.earlier_state import Earlier, earlier_state, unchanged
from muntin.jobs.accumulate.joined_batches import Joining, Part
from muntin.jobs.accumulate.read_batches import Read, read_batches
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.quarantine.refused_rows_kept import refused_otherwise
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.states.derived_columns import has_types
from muntin.states.frames import NO_INTS, Ints
from muntin.store.disk import link
from muntin.store.paths import QUARANTINE
from muntin.store.shared_files import held, others, within
from muntin.store.store import File, Snapshot
from muntin.tasks import Runner


def read(bound: Bound, runner: Runner, given: Inputs, bases: Mapping[str, Snapshot]) -> Read:
    """Read batches; where an earlier state has a batch, only the fields that it lacks.

    Args, errors: as `read_batches`. `bases`: table of a frame set -> it as it is.
    """
    schemas = {table: base.schema for table, base in bases.items()}
    earlier = earlier_state(bound)
    same = unchanged(bound, earlier, given.files, bases) if earlier else []
    if not earlier or not same:
        return read_batches(bound, runner, given, schemas)
    from muntin.jobs.accumulate.joined_batches import schema_of

    scratch = bound.folder / "staging" / uuid4().hex
    try:
        again = replace(given, files={each: given.files[each] for each in same})
        task_files = _joined(bound, runner, earlier, again, schemas, scratch)
    finally:
        remove_folder(scratch)
    state_schemas = {
        table: schema
        or (schema_of(bound.table(table), task_files.files[table]) if task_files.files[table] else None)
        for table, schema in schemas.items()
    }
    rest = {
        interval: files
        for interval, files in given.files.items()
        if interval.start_us not in task_files.splits
    }
    others_read = read_batches(bound, runner, replace(given, files=rest), state_schemas)
    others_read.splits.update(task_files.splits)
    for table, new in task_files.files.items():
        others_read.files[table][:0] = new
        others_read.wider[table][:0] = [
            file.path
            for file in new
            if (schema := state_schemas.get(table))
            and not has_types(schema_of(bound.table(table), [file]), schema)
        ]
    return others_read


def _joined(
    bound: Bound,
    runner: Runner,
    earlier: Earlier,
    given: Inputs,
    schemas: Mapping[str, pa.Schema | None],
    scratch: AnyPath,
) -> Read:
    """The results of the batches whose states are joined, no other batches.

    `scratch`: a temporary folder for the new fields.
    """
    from muntin.jobs.accumulate.joined_batches import Part, join, schema_of

    some = replace(
        bound,
        pipeline=replace(bound.pipeline, aggregates=bound.pipeline.row_aggregates),
        folder=scratch,
        lifted=earlier.missing,
    )
    task_files = read_batches(some, runner, given, schemas)
    listed = [
        each.start_us
        for each, files in given.files.items()
        if _as_listed(files, task_files.splits[each.start_us])
    ]
    refused = task_files.files[QUARANTINE]
    starts = np.array(listed, np.int64)
    odd = refused_otherwise(earlier.folder, earlier.store.snapshot(QUARANTINE), scratch, refused, starts)
    starts = np.setdiff1d(starts, np.union1d(odd, _added_otherwise(bound, earlier, task_files)))
    items = [
        item
        for table in schemas
        if (new := task_files.files[table])
        for item in _items(
            bound, earlier, table, Part(scratch / table, new, schema_of(scratch / table, new)), starts
        )
    ]
    results = runner.run(join, items)
    unlike = np.array(sorted({start for result in results for start in result["unlike"]}), np.int64)
    joined_starts = np.setdiff1d(starts, unlike)
    read = Read({start: task_files.splits[start] for start in joined_starts.tolist()})
    for item, result in zip(items, results, strict=True):
        folder = bound.table(item.table)
        written = result["file"]
        if written and (file := others(folder, File(**written), unlike, bound.pipeline.keys)):
            read.files[item.table].append(file)
    place = bound.table(QUARANTINE)
    gone = np.setdiff1d(np.array([*task_files.splits], np.int64), joined_starts)
    for file in refused:
        link(scratch / QUARANTINE / file.path, place / file.path)
    read.files[QUARANTINE] += [left for file in refused if (left := others(place, file, gone))]
    return read


def _as_listed(files: Sequence[SourceFile], splits: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the files of a batch were read as they were when compared with the earlier reading."""
    read = [
        SourceFile(path, size, written, tag)
        for each in sorted(splits, key=lambda split: int(split["split"]))
        for path, size, _, written, tag in each["files"]
    ]
    return len(read) == len(files) and all(
        now == (file if file.checksum else replace(file, checksum=now.checksum))
        for file, now in zip(files, read, strict=True)
    )


def _added_otherwise(bound: Bound, earlier: Earlier, task_files: Read) -> Ints:
    """The batches whose values may be added in another order: with lists or texts DuckDB parts its groups."""
    if all(frames.by_arrival for frames in bound.frame_sets) or not earlier.keeps_lists(bound):
        return NO_INTS
    large = [
        start
        for start, splits in task_files.splits.items()
        if any(split["counts"][0] > MOST_ROWS for split in splits)
    ]
    return np.array(sorted(large), np.int64)


def _items(bound: Bound, earlier: Earlier, table: str, new: Part, starts: Ints) -> Iterator[Joining]:
    """The work of each task: neighbouring batches, as many as make a file."""
    from muntin.jobs.accumulate.joined_batches import Joining, Part

    snapshot = earlier.store.snapshot(table)
    folder = earlier.folder / table
    of_old = _by_batch(folder, snapshot.files, starts)
    of_new = _by_batch(new.folder, new.files, starts)
    for near in _stretches(starts, of_old):
        old = Part(folder, _together(of_old, near), snapshot.schema or pa.schema([]))
        yield Joining(bound, table, near, old, new._replace(files=_together(of_new, near)))


def _by_batch(folder: AnyPath, files: Sequence[File], starts: Ints) -> Mapping[int, list[File]]:
    """Start of a batch -> its files, by split."""
    files_of_batch: dict[int, list[File]] = {start: [] for start in starts.tolist()}
    for file in sorted(files, key=lambda file: file.path):
        if len(within(starts, file.path)):
            for start in np.intersect1d(held(folder, file), starts).tolist():
                files_of_batch[start].append(file)
    return files_of_batch


def _stretches(starts: Ints, files: Mapping[int, Sequence[File]]) -> Iterator[Ints]:
    """Neighbouring batches whose files are small together."""
    first, seen, size = 0, set[str](), 0
    for at, start in enumerate(starts.tolist()):
        more = [file for file in files[start] if file.path not in seen]
        if at > first and (at - first == MOST_BATCHES or size + sum(file.size for file in more) > MOST_BYTES):
            yield starts[first:at]
            first, seen, size, more = at, set(), 0, list(files[start])
        seen |= {file.path for file in more}
        size += sum(file.size for file in more)
    if len(starts):
        yield starts[first:]


def _together(files: Mapping[int, Sequence[File]], starts: Ints) -> Sequence[File]:
    """The files of some batches, each once, in order."""
    return [*{file.path: file for start in starts.tolist() for file in files[start]}.values()]
