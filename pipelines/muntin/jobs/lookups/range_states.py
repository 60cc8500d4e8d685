"""The states of ranges of time, read from the checkpoint: of all batches that are committed, published or
not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, spell_instant
from muntin.engine.ranges import Ranges
from muntin.errors import StateError
from muntin.jobs.finalize.shard import SHARD_ROWS, Shard
from muntin.jobs.finalize.states import read_states
from muntin.jobs.finalize.tiers import Tiers, check_states
from muntin.jobs.inspect.one_key import value_of
from muntin.jobs.inspect.selection import Selection, several
from muntin.jobs.lookups.range_tiles import tiles_of_ranges
from muntin.jobs.published.pending import accumulated, refusal
from muntin.jobs.published.promotion import superseded
from muntin.jobs.published.window_tables import current
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BUCKET
from muntin.states.frames import NO_INTS
from muntin.states.keys import buckets
from muntin.store.paths import parse_states_path
from muntin.store.store import Snapshot
from muntin.timeline.batches import Batches

_MOST_KEYS = 1_000


def states_of_ranges(
    bound: Bound, frames: FrameSet, ranges: Ranges, keys: Mapping[str, Any] | None, *, divided: bool
) -> Iterator[pa.Table]:
    """The states of some ranges, with `BATCH_POSITION`; further states may come with them. States that are
    gone are an error.

    Borders of the ranges are borders of the frames. `keys`: as `read` has them; None: all. `divided`: whether
    a table may hold the states of some keys alone.
    """
    snapshot = bound.store.snapshot(frames.table)
    batches = accumulated(bound, frames.table, snapshot)
    if (
        not len(batches)
        or snapshot.schema is None
        or not {*bound.pipeline.keys, *{column for field in bound.fields for column in field.columns}}
        <= {*snapshot.schema.names}
    ):
        raise StateError(
            f"{bound.pipeline.name}: no row was read under this definition yet; run it first: muntin run FILE"
        )
    _check_kept(bound, batches, ranges)
    shard = _shard(bound, frames, snapshot, batches, ranges)
    own = {*shard.files}
    rows = sum(file.rows for file in snapshot.files if file.path in own) + (
        shard.tiers.rows if shard.tiers else 0
    )
    only = _only(bound, snapshot.schema, keys)
    count = max(1, round(rows / SHARD_ROWS)) if divided and only is None and bound.pipeline.keys else 1
    if count == 1 and only is None:
        check_states(bound.pipeline.name, ["over"], rows)
    for number in range(count):
        yield read_states(replace(shard, number=number, count=count, only=only), bound.table(frames.table))


def check_current(bound: Bound) -> None:
    """Refuse states that get no batches any more, since a newer definition has taken the place of theirs."""
    for window in superseded(bound):
        live = current(bound.store, window).ledger
        if live and live.state != bound.state:
            raise StateError(
                f"{bound.pipeline.name}: this definition is superseded, and its states get no batches any"
                f" more: {window} is made of the states of a newer one. Ask by the newer definition, or make"
                " this one current again: muntin promote FILE"
            )


def _check_kept(bound: Bound, batches: Batches, ranges: Ranges) -> None:
    """Refuse ranges with states that are gone."""
    gone = batches.take(batches.expired & (batches.rows > 0))
    held = ranges.held()
    # pieces that end before a batch's first frame
    before = np.searchsorted(held.high, gone.low_us, side="right")
    touching = before < np.searchsorted(held.low, gone.high_us, side="right")
    if touching.any():
        last = int(gone.end_us[touching].max())
        behind = int(gone.high_us.max())
        raise StateError(
            f"{bound.pipeline.name}: {refusal(bound, last)}, and a range holds some of their frames. "
            f"All states are there of ranges that start after {spell_instant(behind)}"
        )


def _shard(bound: Bound, frames: FrameSet, snapshot: Snapshot, batches: Batches, ranges: Ranges) -> Shard:
    """The work of reading some ranges, for all keys."""
    tiles = tiles_of_ranges(bound, frames, snapshot.schema, batches, ranges)
    since = int(np.searchsorted(batches.start_us, tiles.to_us, side="right")) if tiles.files else len(batches)
    since_us, low, high = tiles.to_us if tiles.files else AFTER_ALL, *tiles.extent
    paths = _reaching([file.path for file in snapshot.files], ranges.held())
    later = [path for path in paths if parse_states_path(path).last_us > since_us]
    needed = sorted({*later, *_reaching(paths, tiles.left)})
    rest = [(int(start), int(end)) for start, end in zip(tiles.left.low, tiles.left.high, strict=True)]
    tiers = Tiers(tiles.table, tiles.files, tiles.rows, tuple(rest), {}, tuple(sorted({*paths} - {*needed})))
    alone = not tiles.files and len(rest) == 1  # one stretch of states
    return Shard(
        bound=bound,
        window=frames.windows[0],
        files=needed,
        schema=snapshot.schema,
        watermarks_us=batches.end_us,
        wanted=NO_INTS,
        last=len(batches) - 1,
        low_us=low,
        high_us=high,
        since=since,
        starts=np.append(batches.start_us, batches.end_us[-1:]),
        note=(),
        notes_after=(),
        number=0,
        count=1,
        staging="",
        tiers=None if alone else tiers,
        whole=alone and all(_lies_in(path, low, high) for path in needed),
    )


def _reaching(paths: Sequence[str], stretches: Ranges) -> list[str]:
    """The files that may hold states of some stretches."""
    facts = [parse_states_path(path) for path in paths]
    low = np.array([AFTER_ALL if each.low_us is None else each.low_us for each in facts], np.int64)
    high = np.array([BEFORE_ALL if each.high_us is None else each.high_us for each in facts], np.int64)
    is_within = np.searchsorted(stretches.high, low, side="right") < np.searchsorted(
        stretches.low, high, side="right"
    )
    return [paths[at] for at in np.flatnonzero(is_within).tolist()]


def _lies_in(path: str, low_us: int, high_us: int) -> bool:
    """Whether all states of a file lie in a stretch."""
    low = parse_states_path(path).low_us
    high = parse_states_path(path).high_us
    return low is not None and high is not None and low_us <= low and high < high_us


def _only(bound: Bound, schema: pa.Schema, keys: Mapping[str, Any] | None) -> pc.Expression | None:
    """The condition on states of some keys; with a value for each key, other buckets are skipped."""
    condition = Selection(keys=keys).of_keys(schema)
    names = bound.pipeline.keys
    if condition is None or not set(names) <= {*(keys or ())}:
        return condition
    asked = [several(keys[name]) for name in names] if keys else []
    if prod(map(len, asked)) > _MOST_KEYS:
        return condition
    types = [schema.field(name).type for name in names]
    values = [
        [value_of(name, value, kind) for value in each]
        for name, each, kind in zip(names, asked, types, strict=True)
    ]
    rows = [*product(*values)]
    columns = [pa.array([row[at].as_py() for row in rows], kind) for at, kind in enumerate(types)]
    return condition & pc.field(BUCKET).isin(pa.array(np.unique(buckets(columns, len(rows)))))
