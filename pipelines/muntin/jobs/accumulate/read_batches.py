"""Batches are cut into splits, tasks read the splits, and their results are put together.

A batch of several splits waits as a whole: where one split has a contradiction, the rows of its other splits
do not count either.

Tasks of several sources. One task reads all sources of small batches, so that neighbouring batches share a
file of states.

sources   batch 0   batch 1   batch 2
clicks    small     small     large      one task: batches 0 and 1 of both sources, which share a file
orders    small     small     small      other tasks: batch 2, source by source
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import StateError
from muntin.jobs.accumulate.accumulate_task import accumulate_share
from muntin.jobs.accumulate.bundle_states import NOTHING, empty_states
from muntin.jobs.accumulate.bundles import put_together
from muntin.jobs.accumulate.readings import readings
from muntin.jobs.accumulate.shares import Share, manifest_of_batch
from muntin.jobs.quarantine.refused_rows_kept import REFUSED
from muntin.jobs.records.reports import Counts
from muntin.jobs.schema_check.same_versions import say_other_workers, versions_here
from muntin.sources.listing import WORTH_A_TASK, shares
from muntin.states.columns import BATCH, INSTANT
from muntin.store.parquet import write_named
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, StatesPath, parse_states_path
from muntin.store.store import File

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.accumulate.readings import SourceSplits
    from muntin.jobs.deduplication.earlier import Earlier
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
        from muntin.jobs.accumulate.later_batches import with_later

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
    decided: Mapping[int, int] = {}
    if bound.source.dedupe_within_us is not None:
        from muntin.jobs.deduplication.event_ids import SCHEMA
        from muntin.jobs.deduplication.kept_decisions import decided_of_nothing

        ids = empty_states(bound.table(IDS), empty, {}, nothing=SCHEMA.empty_table())
        task_files.files[IDS] += ids
        decided = decided_of_nothing(bound, ids)
    if bound.pipeline.lookups:
        from muntin.sources.reading.answers import MET

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
    from muntin.jobs.inputs.dimensions.lookup_log import write_met

    name = StatesPath(start, split["split"], None).named
    number = split["split"]
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


def dealt(
    readings: Sequence[SourceSplits], tasks: int, earlier: Earlier | None = None
) -> list[tuple[Share, ...]]:
    """The work of each task: a single source as its files are dealt; with several, all sources of small
    batches together.

    `tasks`: about how many there shall be for each source. `earlier`: as in `Share`; of several sources
    batches are not compared.
    """
    if len(readings) == 1 and readings[0].bound.source.member is None:
        return [
            (_share(readings[0], numbers, earlier),)
            for numbers in shares([split.size for split in readings[0].splits], tasks)
        ]
    sizes: dict[int, int] = defaultdict(int)
    for split in chain.from_iterable(reading.splits for reading in readings):
        sizes[split.batch_us] += 2 * WORTH_A_TASK if split.part else split.size
    small = sorted(start for start, size in sizes.items() if size < 2 * WORTH_A_TASK)
    together = (
        [{small[at] for at in numbers} for numbers in shares([sizes[start] for start in small], tasks)]
        if small
        else []
    )
    work = [
        tuple(_share(reading, numbers) for reading in readings if (numbers := _places(reading, starts)))
        for starts in together
    ]
    for reading in readings:  # the batches that are not small, source by source
        left = _places(reading, {*sizes} - {*small})
        dealt_places = shares([reading.splits[at].size for at in left], tasks) if left else ()
        work += [(_share(reading, [left[at] for at in numbers]),) for numbers in dealt_places]
    return work


def _places(reading: SourceSplits, starts: Collection[int]) -> list[int]:
    return [at for at, split in enumerate(reading.splits) if split.batch_us in starts]


def _share(reading: SourceSplits, numbers: Sequence[int], earlier: Earlier | None = None) -> Share:
    return Share(
        reading.bound,
        [reading.splits[at] for at in numbers],
        reading.types,
        reading.columns,
        versions_here(),
        earlier,
    )


def accumulate_shares(parts: Sequence[Share]) -> dict[str, Any]:
    """Accumulate each share as `accumulate_share` does; small files of several sources are put together."""
    written_shares = [accumulate_share(part) for part in parts]
    if len(written_shares) == 1:
        return written_shares[0]
    splits = [split for each in written_shares for split in each["splits"]]
    apart = {split["batch"] for split in splits if split.get("waits")}
    files = {
        table: [file for each in written_shares for file in each["files"][table]]
        for table in written_shares[0]["files"]
    }
    return {
        "splits": splits,
        "files": {
            table: of_table if table == LOOKED_UP else put_together(parts[0], table, of_table, apart)
            for table, of_table in files.items()
        },
        "versions": written_shares[0]["versions"],
    }
