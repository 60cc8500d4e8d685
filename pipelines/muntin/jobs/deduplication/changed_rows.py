"""Which rows change rows of earlier batches, and what a batch must be named by so that it is read again when
later batches change its rows.

batch     0          1          2          3
order 7   home                  changes 0
order 8              home                  changes 1            the name of batch 1: of its own ids, and of
this change

An id is at home in the first of the batches within reach that bring it. If no batch within reach does, or
that batch is within reach of a still earlier batch that does, the id is older than a change may be: it is
changed too late. Batches that only change it move nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.sources.sessions.duckdb_session import any_session
from muntin.states.keys import scattered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.jobs.deduplication.event_ids import Ids
    from muntin.states.frames import Ints
    from muntin.timeline.batches import Flags, Versions

_OWN, _EARLIER = "muntin_own", "muntin_earlier"


class Homes(NamedTuple):
    """For each id: the start of the batch that it is at home in, and whether it is changed too late."""

    batch: Ints
    late: Flags


def homes(own: Ids, earlier: Iterable[Ids], within_us: int) -> Homes:
    """The homes of ids: batches that bring them. Of an id that its batch does not bring, `row` is odd.

    `earlier`: the ids of all batches up to twice the reach `within_us` before, some at a time; the ids of
    `own` may be among them.
    """
    pairs = [_pairs(own, ids) for ids in earlier if len(own)]
    number, batch = (
        np.concatenate([pair[at] for pair in pairs] or [np.empty(0, np.int64)]) for at in range(2)
    )
    home = own.batch.copy()
    near = batch >= own.batch[number] - within_us
    np.minimum.at(home, number[near], batch[near])
    late = (home == own.batch) & (own.row & 1 == 1)
    older = (home[number] < own.batch[number]) & (batch < home[number]) & (batch >= home[number] - within_us)
    late[number[older]] = True
    return Homes(home, late)


def _pairs(own: Ids, earlier: Ids) -> tuple[Ints, Ints]:
    """Number of an own id, and the start of an earlier batch that brings it, too."""
    session = any_session()
    session.register(
        _OWN, pa.table({"batch": own.batch, "high": own.high, "low": own.low, "number": np.arange(len(own))})
    )
    brought = earlier.take(earlier.row & 1 == 0)
    session.register(_EARLIER, pa.table({"batch": brought.batch, "high": brought.high, "low": brought.low}))
    query = (
        f"SELECT number, earlier.batch AS batch FROM {_OWN} AS own JOIN {_EARLIER} AS earlier USING (high,"
        " low) WHERE earlier.batch < own.batch"
    )
    try:
        columns = session.execute(query).fetchnumpy()
        return columns["number"], columns["batch"]
    finally:
        session.unregister(_OWN)
        session.unregister(_EARLIER)


def names_of_changes(ids: Ids, homes_of_ids: Homes) -> tuple[Ints, Versions]:
    """The homes of the rows that some ids change, ascending, each with a name of the changes: of their ids,
    batches and rows.
    """
    changing = (homes_of_ids.batch < ids.batch) & ~homes_of_ids.late
    home, at = np.unique(homes_of_ids.batch[changing], return_inverse=True)
    sums = np.zeros(len(home), np.uint64)
    np.add.at(sums, at, _names(ids.take(changing)))
    return home, sums


def name_of_changes(ids: Ids) -> int:
    """The name of the changes that rows with some ids make in a batch; 0 of no rows."""
    return int(_names(ids).sum())


def _names(ids: Ids) -> Versions:
    each = scattered(ids.high)
    for column in (ids.low, ids.row, ids.batch):
        each = scattered(each * np.uint64(31) + column.view(np.uint64))
    return each


def together(decided: int, names: Iterable[int]) -> int:
    """The name of a decision together with names of what else states rest on: changes that later batches
    make, and what rows looked up.
    """
    return (decided + sum(names)) % 2**64 or 1
