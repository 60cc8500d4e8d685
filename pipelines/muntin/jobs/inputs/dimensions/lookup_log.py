"""The table of what events looked up: of each batch the keys, the times and the answers, in files like the
files of states.

The files of states of a batch bear the name of what its events met, so that states and this table cannot get
apart unseen: where they do, as after a crash between two commits, it is unknown what the states rest on, and
the batch is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.replaced_batches import replace_batches
from muntin.sources.reading.answers import MET
from muntin.states.columns import BATCH
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.batch_facts import batches_of
from muntin.store.parquet import Encoding, write_named
from muntin.store.paths import LOOKED_UP, StatesPath
from muntin.store.shared_files import write_shared
from muntin.store.store import File, Texts
from muntin.timeline.batches import UNDECIDED, Batches, Versions

_LOOKUP, _KEY, _FIRST, _LAST, _ANSWER = MET.names[1:]
TEXTS = Texts(
    "looked up",
    "What the events of each batch looked up, by which batches are found that rest on rows which changed"
    " since",
    {
        BATCH: "start of the interval of the batch, UTC",
        _LOOKUP: "the name of the look-up",
        _KEY: "a hash of the key",
        _FIRST: "the first event time for which the key gave this answer, UTC",
        _LAST: "the last event time for which it did, UTC",
        _ANSWER: "a hash of the values that were found; null: no row was valid",
    },
)


def name_of_met(met: pa.Table | None) -> int:
    """A name of what the rows of a batch looked up, for the files of its states; `UNDECIDED` where that is
    nothing.
    """
    if met is None or not len(met):
        return UNDECIDED
    digest = blake3()
    for column in met.columns[1:]:
        for part in _buffers(column):
            digest.update(part)
    return int.from_bytes(digest.digest(length=8), "big") or 1


def names_of_met(met: pa.Table | None, starts: Ints) -> Versions | None:
    """The name for each of some batches, as `name_of_met` gives it; None where nothing is looked up.

    `met`: batches ascending.
    """
    if met is None:
        return None
    return np.array([name_of_met(part) for part in _by_batch(met, starts)], np.uint64)


def noted_names(bound: Bound, starts: Ints) -> Versions:
    """The name of what each of some batches looked up, as the table says; `UNDECIDED`
    where that is nothing.
    """
    met = batches_of(
        bound.table(LOOKED_UP), bound.store.snapshot(LOOKED_UP).files, bound.pipeline.intervals.after
    )
    return np.append(met.decided, np.uint64(UNDECIDED))[met.position(starts)]


def write_met(bound: Bound, met: pa.Table | None, batch_us: int, split: int) -> dict[str, Any] | None:
    """Write what the rows of a split looked up, also if that is nothing; the file, None where nothing looks
    up.
    """
    if not bound.pipeline.lookups:
        return None
    met = MET.empty_table() if met is None else met
    low, high = _extent(met) if len(met) else (None, None)
    name = StatesPath(batch_us, split, high, low, high, name_of_met(met)).named
    return write_named(met, bound.table(LOOKED_UP), name, Encoding([BATCH, _LOOKUP]))


def write_met_of_batches(bound: Bound, met: pa.Table | None, starts: Ints, ends: Ints) -> File | None:
    """Write what the rows of several batches looked up to a file that they share; None where nothing looks
    up.
    """
    if met is None:
        return None
    parts = _by_batch(met, starts)
    names = np.array([name_of_met(part) for part in parts], np.uint64)
    extents = [_extent(part) if len(part) else (AFTER_ALL, BEFORE_ALL) for part in parts]
    low, high = (np.array(each, np.int64) for each in zip(*extents, strict=True))
    rows = np.array([len(part) for part in parts], np.int64)
    batches = Batches(
        starts, ends, np.maximum(names, 1), high, low, high, rows, np.zeros(len(starts), np.bool_), names
    )
    return write_shared(met, bound.table(LOOKED_UP), batches)


def commit_met(bound: Bound, starts: Ints, new: Sequence[File]) -> None:
    """Replace what batches looked up; see `replace_batches`.

    ConflictError where other runs commit all the time.
    """
    replace_batches(bound, LOOKED_UP, starts, new, (MET, TEXTS))


def _by_batch(met: pa.Table, starts: Ints) -> list[pa.Table]:
    batch = instants(met[BATCH])
    begin, end = np.searchsorted(batch, starts), np.searchsorted(batch, starts, side="right")
    return [met.slice(at, count) for at, count in zip(begin.tolist(), (end - begin).tolist(), strict=True)]


def _extent(met: pa.Table) -> tuple[int, int]:
    return int(instants(met[_FIRST]).min()), int(instants(met[_LAST]).max())


def _buffers(column: pa.ChunkedArray) -> list[bytes]:
    """The values of a column as bytes that follow from the values alone."""
    if column.type == pa.string():
        return [repr(column.unique().to_pylist()).encode()]
    plain = column.combine_chunks()
    values = plain.view(pa.int64()) if plain.type != pa.int64() else plain
    missing = plain.is_null().to_numpy(zero_copy_only=False)
    return [
        np.ascontiguousarray(values.fill_null(0).to_numpy(zero_copy_only=False)).tobytes(),
        missing.tobytes(),
    ]
