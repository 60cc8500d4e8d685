"""The states that a shard needs, read from the checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.aggregates.aggregate import runs_code
from muntin.definition.instants import from_us
from muntin.definition.relative_paths import is_object_store
from muntin.errors import StateError
from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.jobs.finalize.shard import Shard
from muntin.states.columns import BATCH, BATCH_POSITION, BUCKET, FILE_NUMBER, FRAME, INSTANT, ROW_IN_BATCH
from muntin.states.frames import Ints, run_starts
from muntin.states.keys import BUCKETS, buckets, contiguous, odd_floats
from muntin.states.order import sorted_order, take_rows
from muntin.states.sorted import instants
from muntin.store.contents import problem_of
from muntin.store.local_files import Between, local_rows
from muntin.store.paths import parse_states_path
from muntin.store.reading import dataset_of, held_rows

_log = logging.getLogger("muntin")
_SELDOM_READ = (BATCH, BUCKET, FILE_NUMBER, ROW_IN_BATCH)


def read_states(shard: Shard, folder: AnyPath, keep: Sequence[str] = ()) -> pa.Table:
    """The shard's states with `BATCH_POSITION`; the states of a key, frame and batch in order of arrival.
    Rows as `held_rows` gives them.

    Row groups of other buckets and times are skipped. Tiers stand for some states, with the position 0: no
    window was closed before it. If they are damaged or have an odd float, the states are read after all.
    `keep`: the columns among `BATCH`, `BUCKET`, `FILE_NUMBER` and `ROW_IN_BATCH` that are also read.
    """
    if shard.tiers:
        states = _natural(shard, folder, keep)
        if not shard.tiers.files:
            return states
        rows = rows_of_tiers(shard, states)
        if rows is not None:
            return pa.concat_tables([rows, states])
        files = sorted((*shard.files, *shard.tiers.spared))
        _check_files(replace(shard, files=files, number=0, count=1), folder)
        shard = replace(shard, files=files, tiers=None)
    return _natural(shard, folder, keep)


def _natural(shard: Shard, folder: AnyPath, keep: Sequence[str]) -> pa.Table:
    """The states of the shard's files that its work and its tiers ask for."""
    if any(map(runs_code, shard.bound.fields)):  # whoever reads a pickle checks it
        _check_files(replace(shard, number=0, count=1), folder)
    elif shard.only is None:
        _check_files(shard, folder)
    names = [name for name in shard.schema.names if name not in _SELDOM_READ or name in keep]
    here = str(folder)
    places, asked = [f"{here}/{path}" for path in shard.files], list(dict.fromkeys((*names, BATCH)))
    table = _rows_of_rollup(shard, places, asked) if shard.is_rollup else _rows(shard, places, asked)
    position = _positions(shard.starts, instants(table[BATCH]))
    table = table if BATCH in names else table.drop_columns([BATCH])
    return table.append_column(BATCH_POSITION, pa.array(position))


def _positions(starts: Ints, batches: Ints) -> Ints:
    """The place of each row's batch among all starts: rows of a batch lie together, so
    that few are searched.
    """
    heads = np.flatnonzero(run_starts(batches))
    return np.repeat(np.searchsorted(starts, batches[heads]), np.diff(heads, append=len(batches)))


def _rows(shard: Shard, places: Sequence[str], asked: Sequence[str]) -> pa.Table:
    """Some columns of the states that the shard reads of its files."""
    whole = shard.whole and shard.only is None
    if places and not is_object_store(places[0]):
        between = Between(BUCKET, *_between(shard)) if shard.count > 1 else None
        # the condition of a key names its bucket
        more = [] if shard.only is None or BUCKET in asked else [BUCKET]
        rows = local_rows(
            places,
            shard.schema,
            [*asked, *more],
            None if whole else _condition(replace(shard, count=1)),
            between,
        )
        return rows.drop_columns(more) if more else rows
    condition = None if whole and shard.count == 1 else own_buckets(shard) if whole else _condition(shard)
    return held_rows(dataset_of(places, shard.schema, condition), asked, condition, use_threads=False)


def _rows_of_rollup(shard: Shard, places: Sequence[str], asked: Sequence[str]) -> pa.Table:
    """The states whose fewer keys lie in the buckets of the shard.

    They lie in all buckets of the files, read one share after another.
    """
    parts = (_rows(replace(shard, number=number), places, asked) for number in range(shard.count))
    return pa.concat_tables([of_fewer_keys(shard, part) for part in parts])


def of_fewer_keys(shard: Shard, states: pa.Table) -> pa.Table:
    """The states whose fewer keys lie in the buckets of a rollup's shard; the bucket is that of the fewer
    keys.
    """
    bucket = buckets([contiguous(states[key]) for key in shard.keys], len(states))
    if BUCKET in states.column_names:
        states = states.set_column(states.column_names.index(BUCKET), BUCKET, pa.array(bucket))
    low, high = _between(shard)
    mine = (bucket >= low) & (bucket < high)
    return states if mine.all() else states.filter(pa.array(mine))


def _between(shard: Shard) -> tuple[int, int]:
    """The buckets of a shard: the first, and the first behind them."""
    return shard.number * BUCKETS // shard.count, (shard.number + 1) * BUCKETS // shard.count


def in_order(states: pa.Table) -> pa.Table:
    """The states in the order of their batches: a file that batches share may lie between files of other
    batches.
    """
    position = states[BATCH_POSITION].to_numpy()
    return (
        states if bool(np.all(position[1:] >= position[:-1])) else take_rows(states, sorted_order(position))
    )


def _condition(shard: Shard) -> pc.Expression:
    """The condition on the rows to read: of batches of the history up to the last wanted, of the times and
    the buckets of the shard.
    """
    first_us, last_us = int(shard.starts[0]), int(shard.starts[shard.last])
    old_enough = (pc.field(BATCH) >= _instant(first_us)) & (pc.field(BATCH) <= _instant(last_us))
    since = pc.field(BATCH) >= _instant(int(shard.starts[shard.since]))
    within = [(shard.low_us, shard.high_us)] if shard.tiers is None else shard.tiers.needed
    inside = ((pc.field(FRAME) >= _instant(low)) & (pc.field(FRAME) < _instant(high)) for low, high in within)
    condition = old_enough & (pc.field(FRAME) < _instant(shard.high_us)) & reduce(or_, inside, since)
    condition = condition if shard.only is None else condition & shard.only
    return condition & own_buckets(shard) if shard.count > 1 else condition


def own_buckets(shard: Shard) -> pc.Expression:
    """The condition that a row belongs to the shard, by its bucket."""
    bucket = pc.field(BUCKET)
    return (bucket >= _share(shard.number, shard.count)) & (bucket < _share(shard.number + 1, shard.count))


def _check_files(shard: Shard, folder: AnyPath) -> None:
    """Check the shard's share of the files: each file is checked by one shard, and what a shard refuses is
    refused for all.
    """
    for name in shard.files[shard.number :: shard.count]:
        if problem := problem_of(folder / name):
            path = parse_states_path(name)
            at = int(np.searchsorted(shard.starts, path.last_us))
            end_us = shard.starts[min(at + 1, len(shard.starts) - 1)]
            start, end = (f"{from_us(int(us)):%Y-%m-%dT%H:%M:%S}" for us in (path.first_us, end_us))
            raise StateError(
                f"the states of batch {start}Z are not whole: {folder}/{name} {problem}; "
                f"nothing was published; read the batch again: muntin run FILE --start {start}Z --end {end}Z"
            )


def _share(number: int, count: int) -> pa.Scalar:
    """The first bucket of a shard."""
    return pa.scalar(number * BUCKETS // count, pa.int16())


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)


def rows_of_tiers(shard: Shard, states: pa.Table) -> pa.Table | None:
    """The rows of the shard's tiers, with the columns of its states; None if the states must be read instead.

    A damaged file is removed, so that the next run makes it again.

    `states`: the files of states that are read with them.
    """
    if not shard.tiers:
        return None
    fields = [column for field in shard.bound.fields for column in field.columns]
    folder, tables = shard.bound.folder / shard.tiers.folder, list[pa.Table]()
    for path, starts in shard.tiers.files:
        if problem := problem_of(folder / path):
            _log.warning("%s %s; states are read instead", folder / path, problem)
            (folder / path).unlink(missing_ok=True)
            return None
        tables.append(_of_file(shard, folder / path, np.array(starts, np.int64)))
    if (
        any(not set(states.column_names) <= {*table.column_names} for table in tables)
        or odd_floats(states, fields).any()
    ):
        return None
    return pa.concat_tables(
        [states.slice(0, 0), *(table.select(states.column_names).cast(states.schema) for table in tables)]
    )


def _of_file(shard: Shard, path: AnyPath, starts: Ints) -> pa.Table:
    """The rows of some tiles and of the shard's buckets, with `BATCH_POSITION`."""
    table = opened(path).read(use_threads=False)
    mine = np.isin(instants(table[FRAME]), starts)
    if not shard.is_rollup:
        bucket, (low, high) = contiguous(table[BUCKET]).to_numpy(), _between(shard)
        mine &= (bucket >= low) & (bucket < high)
    table = table if mine.all() else table.filter(pa.array(mine))
    table = table if shard.only is None else table.filter(shard.only)
    table = of_fewer_keys(shard, table) if shard.is_rollup else table
    return table.append_column(BATCH_POSITION, pa.array(np.zeros(len(table), np.int64)))
