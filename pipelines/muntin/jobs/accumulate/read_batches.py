"""Batches are cut into splits, tasks read the splits, and their results are put together.

A batch of several splits waits as a whole: where one split has a contradiction, the rows of its other splits
do not count either.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import StateError
from muntin.jobs.accumulate.bundle_states import NOTHING, empty_states
from muntin.jobs.accumulate.readings import readings
from muntin.jobs.accumulate.shares import manifest_of_batch
from muntin.jobs.accumulate.shares_of_sources import accumulate_shares, dealt
from muntin.jobs.inputs.dimensions.lookup_log import write_met
from muntin.jobs.quarantine.refused_places import REFUSED
from muntin.jobs.records.reports import Counts
from muntin.jobs.schema_check.same_versions import say_other_workers
from muntin.states.columns import BATCH, INSTANT
from muntin.store.parquet import write_named
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, StatesPath, parse_states_path
from muntin.store.store import File

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.accumulate.shares import Share
    from muntin.jobs.inputs.listings.listing import Inputs
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner
    from muntin.timeline.batches import Batches


@dataclass(frozen=True, slots=True)
class Read:
    """The files that the tasks read and wrote.

    Attributes:
        splits: start of a batch -> what was counted in each of its splits; none for a batch without files.
        files: table -> the files that were written for it: of frame sets, of the quarantine, of ids and of
            what was looked up.
        wider: table of a frame set -> the paths of the files with a type that is wider than in the state.
        before: the batches that they were compared with, in the table of ids; None where batches are not
            compared.
    """

    splits: dict[int, list[dict[str, Any]]]
    files: dict[str, list[File]] = field(default_factory=lambda: defaultdict(list))
    wider: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    before: Batches | None = None


def read_batches(
    bound: Bound, runner: Runner, given: Inputs, schemas: Mapping[str, pa.Schema | None]
) -> Read:
    """Read the files of some batches in one job of tasks, and write their states and refused rows.

    `schemas`: table of a frame set -> the columns of its states so far; None: there are none.
    """
    noted_ids = earlier = None
    if bound.source.dedupe_within_us is not None:
        from muntin.jobs.deduplication.kept_decisions import earlier_ids, known_ids

        noted_ids = known_ids(bound)
    task_files = Read(
        {interval.start_us: [] for interval in given.files}, before=noted_ids.batches if noted_ids else None
    )
    source_readings = readings(bound, given, schemas)
    if bound.source.changes:
        from muntin.jobs.accumulate.row_changes.later_batches import with_later

        source_readings = with_later(bound, source_readings)
    if source_readings:
        if noted_ids:
            earlier = earlier_ids(bound, noted_ids, list(given.files))
        items = dealt(source_readings, 2 * runner.parallelism, earlier)
        results, task_files = _results(runner, items, task_files)
        say_other_workers(result["versions"] for result in results)
        for result in results:
            for split in result["splits"]:
                task_files.splits[split["batch"]].append(split)
            for table, files in result["files"].items():
                task_files.files[table] += [File(each["path"], each["size"], each["rows"]) for each in files]
                task_files.wider[table] += [each["path"] for each in files if each.get("wider")]
        for splits in task_files.splits.values():
            manifest_of_batch(splits)  # a file that changed is reported before anything is committed
    hold_back(bound, task_files)
    if empty := [interval for interval in given.files if not task_files.splits[interval.start_us]]:
        _add_empty(bound, task_files, empty, given.watermarks_us)
    return task_files


def _results(
    runner: Runner, items: list[tuple[Share, ...]], task_files: Read
) -> tuple[list[dict[str, Any]], Read]:
    """The result of each share.

    If ids of earlier batches are gone or damaged, batches are compared with none: the run may mend them.
    """
    try:
        return runner.run(accumulate_shares, items), task_files
    except StateError:
        if not any(share.earlier for item in items for share in item):
            raise
        alone = [tuple(replace(share, earlier=None) for share in item) for item in items]
        return runner.run(accumulate_shares, alone), replace(task_files, before=None)


def _add_empty(
    bound: Bound, task_files: Read, empty: Sequence[Interval], watermarks_us: Mapping[int, int | None]
) -> None:
    """Add batches without files."""
    decided: Mapping[int, int] = {}
    if bound.source.dedupe_within_us is not None:
        from muntin.jobs.deduplication.event_ids import SCHEMA
        from muntin.jobs.deduplication.kept_decisions import decided_of_nothing

        ids = empty_states(bound.table(IDS), empty, {}, nothing=SCHEMA.empty_table())
        task_files.files[IDS] += ids
        decided = decided_of_nothing(bound, ids)
    if bound.pipeline.lookups:
        from muntin.sources.reading.dimensions.answers import MET

        task_files.files[LOOKED_UP] += empty_states(
            bound.table(LOOKED_UP), empty, {}, nothing=MET.empty_table()
        )
    for frames in bound.frame_sets:
        task_files.files[frames.table] += empty_states(
            bound.table(frames.table), empty, watermarks_us, decided=decided
        )


def hold_back(bound: Bound, task_files: Read) -> None:
    """Take the rows of the other splits of batches that wait out of what was read: each of their files
    becomes a row of the quarantine.
    """
    for start, of_batch in task_files.splits.items():
        waits = any(split.get("waits") for split in of_batch)
        for split in of_batch:
            if waits and not split.get("waits"):
                _hold_back(bound, start, split, task_files.files)


def _hold_back(bound: Bound, start: int, split: dict[str, Any], files: dict[str, list[File]]) -> None:
    name, number = StatesPath(start, split["split"], None).named, split["split"]
    paths = [entry[0] for entry in split["files"]]
    reason = "its batch waits for another file, in which a column is of another type than in earlier batches"
    rows = [{"batch": start, "reason": reason, "file": path} for path in paths]
    tables = {frames.table: NOTHING for frames in bound.frame_sets}
    tables[QUARANTINE] = pa.Table.from_pylist(rows, pa.schema([(BATCH, INSTANT), *REFUSED]))
    written = {table: write_named(rows, bound.table(table), name) for table, rows in tables.items()}
    for table, file in [*written.items(), (LOOKED_UP, write_met(bound, None, start, number))]:
        files[table] = [each for each in files[table] if not _is_of(each, start, number)]
        files[table] += [File(**file)] if file else []
    split |= {"counts": astuple(Counts(len(paths), 0, len(paths))), "newest": None}


def _is_of(file: File, start: int, number: int) -> bool:
    """Whether a file holds a split, which has files of its own: only batches of one split share files."""
    path = parse_states_path(file.path)
    return isinstance(path, StatesPath) and (path.batch_us, path.split) == (start, number)
