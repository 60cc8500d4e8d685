"""The rows of tiers that a shard reads in place of states."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.engine.odd_floats import odd_floats
from muntin.files.paths import path_of
from muntin.files.readable import readable
from muntin.states.columns import BATCH_POSITION, BUCKET, FRAME
from muntin.states.keys import BUCKETS, contiguous
from muntin.states.sorted import instants
from muntin.store.contents import problem_of

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath
    from muntin.jobs.shards.shard import Shard
    from muntin.states.frames import Ints

_log = logging.getLogger("muntin")


def rows_of_tiers(shard: Shard, states: pa.Table) -> pa.Table | None:
    """The rows of the shard's tiers, with the columns of its states; None if the states must be read instead.

    A damaged file is removed, so that the next run makes it again.

    `states`: those that are read beside them.
    """
    if not shard.tiers:
        return None
    fields = [column for field in shard.bound.fields for column in field.columns]
    folder, tables = path_of(shard.bound.folder, shard.tiers.folder), list[pa.Table]()
    for path, starts in shard.tiers.files:
        if problem := problem_of(folder / path):
            _log.warning("%s %s; states are read instead", folder / path, problem)
            (folder / path).unlink(missing_ok=True)
            return None
        tables.append(_of_file(shard, folder / path, np.array(starts, np.int64)))
    if any(not set(states.column_names) <= {*table.column_names} for table in tables) or odd_floats(states, fields).any():
        return None
    return pa.concat_tables([states.slice(0, 0), *(table.select(states.column_names).cast(states.schema) for table in tables)])


def _of_file(shard: Shard, path: AnyPath, starts: Ints) -> pa.Table:
    """The rows of some tiles and of the shard's buckets, with `BATCH_POSITION`."""
    table = pq.read_table(readable(path), partitioning=None, use_threads=False)
    bucket = contiguous(table[BUCKET]).to_numpy()
    low, high = (number * BUCKETS // shard.count for number in (shard.number, shard.number + 1))
    mine = np.isin(instants(table[FRAME]), starts) & (bucket >= low) & (bucket < high)
    table = table if mine.all() else table.filter(pa.array(mine))
    return table.append_column(BATCH_POSITION, pa.array(np.zeros(len(table), np.int64)))
