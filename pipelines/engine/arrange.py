"""States sorted for the assigners: by key and time, or by key and arrival."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.engine.frames import FIRST, FRAME, LAST, NEVER, POSITION, Arrived, Frames, run_numbers, run_starts, sorted_order
from pipelines.engine.keys import contiguous, key_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.windows.kind import Assignment, Held, Ints

    Evaluate = Callable[[pa.Table, Assignment, str], np.ndarray]

BLANK = {3: np.array((0, NEVER, 0)), 8: np.zeros(8, np.int64)}  # counters of a new partition: tumbling; sliding
COUNTERS, BASE = "muntin_counters", "muntin_base"  # columns of what is carried over


@dataclass(frozen=True, slots=True)
class Arranged:
    """States sorted as the frames are, and the same as frames.

    `keys`: a row of the key columns for each group, where states alone do not say.
    """

    states: pa.Table
    frames: Frames
    keys: pa.Table | None = None


@dataclass(frozen=True, slots=True)
class Batches:
    """What arrival windows must know of the history.

    Attributes:
        starts, ends: of each batch's interval, microseconds.
        origin: the pipeline's start.
        snaps: positions of the batches after which what is held is noted.
    """

    starts: Ints
    ends: Ints
    origin: int
    snaps: Ints


def arrange(states: pa.Table, keys: Sequence[str], width_us: int) -> Arranged:
    """Sort states by (key, frame, batch, order of arrival).

    Args:
        states: key columns, `frame` (timestamp us UTC), `first_event` and `last_event` if a window asks for them, the
            fields' columns, and `POSITION`: the place of the state's batch in the history; in order of arrival.
        keys: names of the key columns.
        width_us: of the frames.
    """
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    start, batch = _instants(states[FRAME]), states[POSITION].to_numpy()
    order = sorted_order(codes, start // width_us, batch)
    states = states.take(pa.array(order))
    first, last = (_instants(states[name]) if name in states.column_names else start[order] for name in (FIRST, LAST))
    return Arranged(states, Frames(codes[order], start[order], batch[order], first, last, width_us))


def arrange_by_arrival(
    states: pa.Table, carried: pa.Table | None, keys: Sequence[str], batches: Batches, evaluate: Evaluate | None = None
) -> Arranged:
    """Sort rows by (key, order of arrival), after those that were held before.

    Args:
        states: as for `arrange`, a row a row of the source.
        carried: what `carried` made of an earlier batch: rows that were held, and a row for each partition with `COUNTERS`
            (list of int64) and `BASE`. None at the beginning of history.
        keys: names of the key columns.
        batches: the history.
        evaluate: states, windows over them, SQL expression over their results -> its values; where a window needs that.
    """
    partitions, before = None, 0
    if carried is not None:
        own = pc.is_valid(carried[COUNTERS])
        partitions, held = carried.filter(own), carried.filter(pc.invert(own))
        before = len(held)
        states = pa.concat_tables([held.select(states.column_names), states, partitions.select(states.column_names)])
    count = len(states) - (len(partitions) if partitions else 0)
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    order = sorted_order(codes)
    group = run_numbers(codes[order])
    keyed = states.select(list(keys)).take(pa.array(order[run_starts(group)]))
    rows = order < count
    counters, bases = _left(partitions, group[~rows], order[~rows] - count, len(keyed) if keys else min(1, len(states)))
    order, group = order[rows], group[rows]
    states = states.take(pa.array(order))
    start, batch = _instants(states[FRAME]), states[POSITION].to_numpy()
    columns = {name: contiguous(states[name]) for name in states.column_names}
    told = partial(evaluate, states) if evaluate else None
    times = (batches.starts, batches.ends, batches.origin)
    arrived = Arrived(columns, *times, order < before, counters, bases, batches.snaps, told)
    return Arranged(states, Frames(group, start, batch, start, start, 1, arrived), keyed)


def _left(partitions: pa.Table | None, group: Ints, rows: Ints, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Counters and bases of every group, from the rows that say those of some; blank ones for groups that are new."""
    if not partitions:
        return np.empty((groups, 0), np.int64), np.zeros(groups)
    known = np.array(partitions[COUNTERS].to_pylist(), np.int64)
    counters = np.tile(BLANK[known.shape[1]], (groups, 1))
    counters[group] = known[rows]
    base = contiguous(partitions[BASE]).to_numpy(zero_copy_only=False)
    bases = np.zeros(groups, base.dtype)
    bases[group] = base[rows]
    return counters, bases


def carried(arranged: Arranged, held: Held, position: int) -> pa.Table:
    """What is held after a batch: its rows, and for each partition a row with `COUNTERS` and `BASE`; for `arrange_by_arrival`."""
    frames, states = arranged.frames, arranged.states
    notes = np.flatnonzero(held.position == position)
    rows = states.take(pa.array(held.row[np.isin(held.note, notes)]))
    width = held.counters.shape[1]
    before = frames.arrival.counters if frames.arrival else held.counters
    quiet = np.setdiff1d(np.arange(len(before)), held.group[notes]) if before.shape[1] else np.empty(0, np.int64)
    groups = np.append(held.group[notes], quiet)
    counters = np.vstack([held.counters[notes], before[quiet].reshape(-1, width)])
    bases = np.append(held.base[notes], frames.arrival.bases[quiet] if frames.arrival and len(quiet) else held.base[:0])
    whole = arranged.keys.take(pa.array(groups)) if arranged.keys is not None else pa.table({})
    lists = pa.FixedSizeListArray.from_arrays(pa.array(counters.reshape(-1)), width).cast(pa.list_(pa.int64()))
    blank = {name: pa.nulls(len(groups), kind) for name, kind in zip(states.column_names, states.schema.types, strict=True)}
    blank |= {name: whole[name] for name in whole.column_names} | {COUNTERS: lists, BASE: pa.array(bases)}
    partitions = pa.table(blank)
    more = {COUNTERS: pa.nulls(len(rows), pa.list_(pa.int64())), BASE: pa.nulls(len(rows), partitions[BASE].type)}
    return pa.concat_tables([pa.table({**{name: rows[name] for name in rows.column_names}, **more}), partitions])


def _instants(column: pa.ChunkedArray) -> Ints:
    return contiguous(column).view(pa.int64()).to_numpy(zero_copy_only=False)
