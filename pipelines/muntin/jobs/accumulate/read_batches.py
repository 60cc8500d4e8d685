"""Batches are cut into splits, tasks read the splits, and their results are put together.

A batch of several splits waits as a whole: where one split has a contradiction, the rows of its other splits
do not count either.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import StateError
from muntin.jobs.accumulate.empty_batches import NOTHING, empty_states
from muntin.jobs.accumulate.readings import readings
from muntin.jobs.accumulate.row_changes.later_batches import with_later
from muntin.jobs.accumulate.shares import manifest_of_batch
from muntin.jobs.accumulate.shares_of_sources import accumulate_shares, dealt
from muntin.jobs.deduplication.event_ids import SCHEMA
from muntin.jobs.deduplication.known import decided_of_nothing, earlier_ids, known_ids
from muntin.jobs.inputs.dimensions.met_rows import write_met
from muntin.jobs.quarantine.refused_places import REFUSED
from muntin.jobs.schema_check.same_versions import say_other_workers
from muntin.sources.reading.dimensions.answers import MET
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
        states: table of a frame set -> the files of states.
        refused: the files of the quarantine.
        wider: table of a frame set -> the paths of the files with a type that is wider than in the state.
        ids: the files of ids; none where batches are not compared.
        before: the batches that they were compared with, in the table of ids.
        met: the files of what rows looked up; none where nothing is.
    """

    splits: dict[int, list[dict[str, Any]]]
    states: dict[str, list[File]]
    refused: list[File]
    wider: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    ids: list[File] = field(default_factory=list)
    before: Batches | None = None
    met: list[File] = field(default_factory=list)


def read_batches(
    bound: Bound, runner: Runner, given: Inputs, schemas: Mapping[str, pa.Schema | None]
) -> Read:
    """Read the files of some batches in one job of tasks, and write their states and refused rows.

    `schemas`: table of a frame set -> the columns of its states so far; None: there are none.
    """
    files, watermarks_us, noted_ids = given.files, given.watermarks_us, known_ids(bound)
    task_files = Read(
        {interval.start_us: [] for interval in files},
        {table: [] for table in schemas},
        [],
        before=noted_ids.batches if noted_ids else None,
    )
    if source_readings := with_later(bound, readings(bound, given, schemas)):
        items = dealt(
            source_readings,
            2 * runner.parallelism,
            earlier_ids(bound, noted_ids, list(files)) if noted_ids else None,
        )
        results, task_files = _results(runner, items, task_files)
        say_other_workers(result["versions"] for result in results)
        for result in results:
            _add(task_files, result)
        for splits in task_files.splits.values():
            manifest_of_batch(splits)  # a file that changed is reported before anything is committed
    hold_back(bound, task_files.splits, task_files.states, task_files.refused, task_files.met)
    if empty := [interval for interval in files if not task_files.splits[interval.start_us]]:
        _add_empty(bound, task_files, empty, watermarks_us)
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
        ids = empty_states(bound.table(IDS), empty, {}, nothing=SCHEMA.empty_table())
        task_files.ids.extend(ids)
        decided = decided_of_nothing(bound, ids)
    if bound.pipeline.lookups:
        task_files.met.extend(empty_states(bound.table(LOOKED_UP), empty, {}, nothing=MET.empty_table()))
    for table in task_files.states:
        task_files.states[table].extend(
            empty_states(bound.table(table), empty, watermarks_us, decided=decided)
        )


def _add(task_files: Read, result: dict[str, Any]) -> None:
    """Add what a task read and wrote."""
    for split in result["splits"]:
        task_files.splits[split["batch"]].append(split)
    for table, files in result["states"].items():
        task_files.states[table] += [File(file["path"], file["size"], file["rows"]) for file in files]
        task_files.wider[table] += [file["path"] for file in files if file.get("wider")]
    task_files.refused.extend(File(file["path"], file["size"], file["rows"]) for file in result["refused"])
    task_files.ids.extend(File(file["path"], file["size"], file["rows"]) for file in result["ids"])
    task_files.met.extend(File(file["path"], file["size"], file["rows"]) for file in result["met"])


def hold_back(
    bound: Bound,
    splits: dict[int, list[dict[str, Any]]],
    states: dict[str, list[File]],
    refused: list[File],
    met: list[File],
) -> None:
    """Take the rows of the other splits of batches that wait out of what was read: each of their files
    becomes a row of the quarantine.

    All arguments but `bound` are changed. `splits`: start of a batch -> what was counted in each of its
    splits.
    """
    for start, of_batch in splits.items():
        if any(split.get("waits") for split in of_batch):
            for split in of_batch:
                if not split.get("waits"):
                    _hold_back(bound, start, split, states, refused)
                    _forget_met(bound, start, split["split"], met)


def _forget_met(bound: Bound, start: int, number: int, met: list[File]) -> None:
    """Note of a split that waits that it met nothing."""
    met[:] = [file for file in met if not _is_of(file, start, number)]
    met.extend(File(**file) for file in [write_met(bound, None, start, number)] if file)


def _hold_back(
    bound: Bound, start: int, split: dict[str, Any], states: dict[str, list[File]], refused: list[File]
) -> None:
    name = StatesPath(start, split["split"], None).named
    for table, files in states.items():
        files[:] = [file for file in files if not _is_of(file, start, split["split"])]
        files.append(File(**write_named(NOTHING, bound.table(table), name)))
    refused[:] = [file for file in refused if not _is_of(file, start, split["split"])]
    paths = [entry[0] for entry in split["files"]]
    refused.append(File(**write_named(_rows(start, paths), bound.table(QUARANTINE), name)))
    split |= {"read": len(paths), "taken": 0, "refused": len(paths), "newest": None}


def _is_of(file: File, start: int, number: int) -> bool:
    """Whether a file holds a split, which has files of its own: only batches of one split share files."""
    path = parse_states_path(file.path)
    return isinstance(path, StatesPath) and (path.batch_us, path.split) == (start, number)


def _rows(start: int, paths: list[str]) -> pa.Table:
    reason = "its batch waits for another file, in which a column is of another type than in earlier batches"
    rows = [{"batch": start, "reason": reason, "file": path} for path in paths]
    return pa.Table.from_pylist(rows, pa.schema([(BATCH, INSTANT), *REFUSED]))
