"""The quarantine of batches: it is committed before their states, and checked again after them.

two runs read another content of a batch      first     second
both commit refused rows, under one lock      x    ->   y y       the second run finds other rows and reads
again both commit states                            kept      refused   by their lock: the first comes first
both check again                               y: read again       so that the batch has the rows of one
reading
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import StateError
from muntin.files.paths import AnyPath
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH, INSTANT
from muntin.states.frames import Ints
from muntin.store.paths import QUARANTINE
from muntin.store.reading import read_files
from muntin.store.shared_files import replacement, within
from muntin.store.store import Change, File, Snapshot, Texts, after_conflicts, locks

REFUSED = pa.schema(
    [
        ("reason", pa.string()),
        ("file", pa.string()),
        ("position", pa.int64()),
        ("event_time", pa.string()),
        ("row", pa.string()),
        ("line", pa.int64()),
        ("column", pa.string()),
    ]
)
KEPT, BAD, ONCE = "muntin_rows", "muntin_bad", "muntin_once"
"""The tables of a split's rows: those that can be computed, the others, and those of the first without
duplicates.
"""
_TRIES = 5
_MORE = "more"
_SCHEMA = pa.schema([pa.field(BATCH, INSTANT), *REFUSED])
_PLACES = pa.schema([_SCHEMA.field(name) for name in (BATCH, "file", "position", "reason")])
_TEXTS = Texts(
    "quarantine",
    "Rows of the source that were refused",
    {
        "batch": "start of the interval of the batch that the row came in, UTC",
        "reason": "why it was refused",
        "file": "path of its file",
        "position": "its number in the file, from 0",
        "event_time": "its event time as it was read",
        "row": "the row, as JSON; of a row that could not be read its text",
        "line": (
            "the line in the file, from 1; null where the file has no lines; of a message of Kafka its offset"
        ),
        "column": "the column that the reason is about; null: the whole row",
    },
)


def commit_refused(bound: Bound, base: Snapshot, starts: Ints, new: Sequence[File]) -> bool:
    """Replace the refused rows of batches, ascending, with new files; False if another run has just written
    rows since `base`.

    Then nothing is replaced. Nothing to write is nothing to commit.
    """
    given_up = (
        f"{bound.pipeline.name}: other runs keep replacing the quarantine of these batches; run again when"
        " they are done"
    )
    for attempt in after_conflicts(_TRIES, given_up):
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                before, base = base, bound.store.snapshot(QUARANTINE)
                if _paths(base, starts) not in (_paths(before, starts), {file.path for file in new}):
                    return False
            adds, removes = replacement(bound.table(QUARANTINE), base.files, starts, new)
            if adds or removes:
                bound.store.commit(
                    QUARANTINE, base, Change(_SCHEMA, adds, removes, locks(starts), texts=_TEXTS)
                )
    return True


def _paths(quarantine: Snapshot, starts: Ints) -> set[str]:
    return {file.path for file in _of_batches(quarantine.files, starts)}


def refused_by_others(bound: Bound, starts: Ints, new: Sequence[File]) -> Ints:
    """The batches whose refused rows another run has replaced, by other rows or by rows that cannot be read.

    `starts`, `new`: as `commit_refused` was given them.
    """
    quarantine = bound.store.snapshot(QUARANTINE)
    now = _of_batches(quarantine.files, starts)
    if _paths(quarantine, starts) == {file.path for file in new}:
        return starts[:0]
    try:
        return np.intersect1d(
            starts, _unlike(_counted(bound.folder, now, _SCHEMA, 1), _counted(bound.folder, new, _SCHEMA, -1))
        )
    except StateError:
        return starts


def refused_otherwise(
    state: AnyPath, quarantine: Snapshot, other: AnyPath, files: Sequence[File], starts: Ints
) -> Ints:
    """The batches of which a reading refused a row that another reading took, or refused for another reason.

    `state`, `quarantine`: of the first reading. `other`, `files`: the state of the second, and its files of
    refused rows. `starts`: of the batches of the first that count, ascending.
    """
    return _unlike(
        _counted(state, _of_batches(quarantine.files, starts), _PLACES, 1),
        _counted(other, files, _PLACES, -1),
    )


def _of_batches(files: Sequence[File], starts: Ints) -> list[File]:
    return [file for file in files if len(within(starts, file.path))]


def _counted(state: AnyPath, files: Sequence[File], columns: pa.Schema, more: int) -> pa.Table:
    rows = read_files(state / QUARANTINE, Snapshot(0, tuple(files), columns))
    return rows.append_column(_MORE, pa.repeat(pa.scalar(more), len(rows)))


def _unlike(one: pa.Table, other: pa.Table) -> Ints:
    """The batches with a row that the two do not have equally often; the second counts its rows below 0."""
    names = [name for name in one.column_names if name != _MORE]
    counts = pa.concat_tables([one, other]).group_by(names).aggregate([(_MORE, "sum")])
    odd = counts.filter(pc.not_equal(counts[f"{_MORE}_sum"], 0))
    return np.unique(odd[BATCH].cast(pa.int64()).to_numpy())
