"""Notes of windows by arrival: what is held after a batch, so that the next one goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pipelines.states.columns import BASE, COUNTERS

if TYPE_CHECKING:
    from pipelines.engine.assignment import Held
    from pipelines.states.sorted import Arranged


def note_after(arranged: Arranged, held: Held, position: int) -> pa.Table:
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
