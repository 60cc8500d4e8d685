"""A batch of several splits waits as a whole: where one split has a contradiction, the rows of the others do not count either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.jobs.run.empty_batches import NOTHING
from muntin.jobs.run.refused_places import REFUSED
from muntin.states.columns import BATCH, INSTANT
from muntin.store.parquet import write_named
from muntin.store.paths import QUARANTINE, StatesPath, parse_states_path
from muntin.store.store import File

if TYPE_CHECKING:
    from muntin.jobs.bound import Bound


def hold_back(bound: Bound, splits: dict[int, list[dict[str, Any]]], states: dict[str, list[File]], refused: list[File]) -> None:
    """Take the rows of the other splits of batches that wait out of what was read: each of their files becomes a row of the quarantine.

    Args:
        bound: the definition beside its state.
        splits: start of a batch -> what was counted in each of its splits; changed.
        states: table of a frame set -> the files of states; changed.
        refused: the files of the quarantine; changed.
    """
    for start, of_batch in splits.items():
        if any(split.get("waits") for split in of_batch):
            for split in of_batch:
                if not split.get("waits"):
                    _hold_back(bound, start, split, states, refused)


def _hold_back(bound: Bound, start: int, split: dict[str, Any], states: dict[str, list[File]], refused: list[File]) -> None:
    name = StatesPath(start, split["split"], None).named
    for table, files in states.items():
        files[:] = [file for file in files if not _is_of(file, start, split["split"])]
        files.append(File(**write_named(NOTHING, f"{bound.folder}/{table}", name)))
    refused[:] = [file for file in refused if not _is_of(file, start, split["split"])]
    paths = [entry[0] for entry in split["files"]]
    refused.append(File(**write_named(_rows(start, paths), f"{bound.folder}/{QUARANTINE}", name)))
    split |= {"read": len(paths), "taken": 0, "refused": len(paths), "newest": None}


def _is_of(file: File, start: int, number: int) -> bool:
    """Whether a file holds a split, which has files of its own: only batches of one split share files."""
    path = parse_states_path(file.path)
    return isinstance(path, StatesPath) and (path.batch_us, path.split) == (start, number)


def _rows(start: int, paths: list[str]) -> pa.Table:
    reason = "its batch waits for another file, in which a column is of another type than in earlier batches"
    rows = [{"batch": start, "reason": reason, "file": path} for path in paths]
    return pa.Table.from_pylist(rows, pa.schema([(BATCH, INSTANT), *REFUSED]))
