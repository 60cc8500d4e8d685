"""Notes of windows by arrival: what is held after a batch, so that the next one goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.states.columns import BASE, COUNTERS
from muntin.states.sorted_rows import BLANK

if TYPE_CHECKING:
    from muntin.engine.assignment import Held
    from muntin.states.frames import Arrived, Ints
    from muntin.states.sorted import Arranged


def note_after(arranged: Arranged, held: Held, position: int) -> pa.Table:
    """The note after a batch: the held rows, and for each partition a row with `COUNTERS` and `BASE`; for `arrange_rows`.

    It says the same, row by row, wherever the work began that made it.
    """
    notes = np.flatnonzero(held.position == position)
    rows = arranged.of_note(np.sort(held.row[np.isin(held.note, notes)]))
    groups, counters, bases = _partitions(held, notes, arranged.frames.arrival)
    whole = arranged.keys.take(pa.array(groups)) if arranged.keys is not None else pa.table({})
    lists = pa.FixedSizeListArray.from_arrays(pa.array(counters.reshape(-1)), counters.shape[1]).cast(pa.list_(pa.int64()))
    blank = {name: pa.nulls(len(groups), kind) for name, kind in zip(rows.column_names, rows.schema.types, strict=True)}
    blank |= {name: whole[name] for name in whole.column_names} | {COUNTERS: lists, BASE: pa.array(bases)}
    partitions = pa.table(blank)
    more = {COUNTERS: pa.nulls(len(rows), pa.list_(pa.int64())), BASE: pa.nulls(len(rows), partitions[BASE].type)}
    return pa.concat_tables([pa.table({**{name: rows[name] for name in rows.column_names}, **more}), partitions])


def _partitions(held: Held, notes: Ints, arrival: Arrived | None) -> tuple[Ints, np.ndarray, np.ndarray]:
    """The partitions that rows have come to, ascending, with their counters and bases.

    Partitions without rows since the note before are as that note says.
    """
    before = arrival.counters if arrival else held.counters
    blank = BLANK[held.counters.shape[1]]
    known = np.flatnonzero((before != blank).any(axis=1)) if before.shape[1] else np.empty(0, np.int64)
    quiet = np.setdiff1d(known, held.group[notes])
    groups = np.append(held.group[notes], quiet)
    counters = np.vstack([held.counters[notes], before[quiet].reshape(-1, held.counters.shape[1])])
    bases = np.append(held.base[notes], arrival.bases[quiet] if arrival and len(quiet) else held.base[:0])
    order = np.argsort(groups, kind="stable")
    return groups[order], counters[order], bases[order]
