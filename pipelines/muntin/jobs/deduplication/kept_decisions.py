"""Decisions that were taken before, in a file beside the tables: each with the name of everything that it depends on.

The file is a cache. Without it ids are compared again, and the decisions are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.files.pages import opened
from muntin.jobs.deduplication.known import compared_ids
from muntin.store.disk import write_whole
from muntin.store.parquet import encoded
from muntin.timeline.batches import UNDECIDED, Batches, positions_of

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.timeline.batches import Versions

NAME = "decisions.parquet"
_COLUMNS = {"batch": np.int64, "compared": np.uint64, "decided": np.uint64}


def kept(bound: Bound, starts: Ints, names: Versions) -> Versions:
    """The decisions that were taken about the same ids; `UNDECIDED` where none was.

    Args:
        bound: the pipeline state.
        starts: of the batches.
        names: of all that their decisions depend on, as `compared` gives them.
    """
    batch, compared, decided = _read(bound)
    at = positions_of(starts, batch)
    same = (at >= 0) & (np.append(compared, np.uint64(0))[at] == names)
    return np.where(same, np.append(decided, np.uint64(UNDECIDED))[at], np.uint64(UNDECIDED))


def keep(bound: Bound, starts: Ints, names: Versions, decided: Versions) -> None:
    """Write down new decisions; earlier decisions stay. Of two runs at once the last one wins."""
    old = _read(bound)
    some, others = decided != UNDECIDED, ~np.isin(old[0], starts)
    both = [np.append(column[others], new[some]) for column, new in zip(old, (starts, names, decided), strict=True)]
    order = np.argsort(both[0])
    content = encoded(pa.table([column[order] for column in both], names=list(_COLUMNS)))
    write_whole(bound.folder / NAME, memoryview(content))


def keep_of_one(bound: Bound, before: Batches, ids: Batches, decided: Versions) -> None:
    """Write down the decision of a batch that was read alone, so that nobody compares its ids again.

    Args:
        bound: the pipeline state.
        before: facts of the batches that it was compared with, in the table of ids.
        ids: its own.
        decided: the decision.
    """
    facts = Batches.joined([before.take(before.start_us != ids.start_us[0]), ids])
    names = compared_ids(bound, facts)[1]
    keep(bound, ids.start_us, names[facts.position(ids.start_us)], decided)


def _read(bound: Bound) -> list[np.ndarray]:
    """The columns of the file, batches ascending; empty columns where it is gone."""
    try:
        table = opened((bound.folder / NAME).read_bytes()).read()
        return [table[name].to_numpy() for name in _COLUMNS]
    except (OSError, pa.ArrowInvalid, KeyError):
        return [np.empty(0, kind) for kind in _COLUMNS.values()]
