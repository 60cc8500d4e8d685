"""The states of one batch, combined to one state per key and frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.engine.protocols import Field
from muntin.engine.windows import combined_fields
from muntin.errors import SourceError
from muntin.states.columns import BATCH, FIRST_EVENT, FRAME, INSTANT, LAST_EVENT
from muntin.states.frames import Ints, run_starts
from muntin.states.keys import contiguous, key_codes
from muntin.states.order import sorted_order
from muntin.states.sorted import instants


def merged(
    table: pa.Table, keys: Sequence[str], fields: Sequence[Field], greatest: Iterable[str] = ()
) -> pa.Table:
    """One state per key and frame.

    `table`: states in order of arrival, several per key and frame: key columns, frame, event times if kept,
    fields' columns. `keys`: names of the key columns. `fields`: how the other columns combine. `greatest`:
    more columns, of which the greatest value stays; of booleans whether any is true.
    """
    codes = key_codes([contiguous(table[key]) for key in keys], len(table))
    frame = table[FRAME].to_numpy()
    order = sorted_order(codes, frame)
    heads = np.flatnonzero(run_starts(codes[order], frame[order]))
    columns = {name: table[name].take(pa.array(order[heads])) for name in (*keys, FRAME)}
    for name, extreme in {
        FIRST_EVENT: np.minimum,
        LAST_EVENT: np.maximum,
        **dict.fromkeys(greatest, np.maximum),
    }.items():
        if name in table.column_names:
            values = table[name].to_numpy()[order]
            columns[name] = pa.array(extreme.reduceat(values, heads) if len(heads) else values)
    columns |= combined_fields(table, order, heads, fields)
    return pa.table(columns)


def runs(states: pa.Table, keys: Sequence[str], run_us: int, fields: Sequence[Field]) -> pa.Table:
    """The states of a split, where states of a key and batch are joined if the silence between them is no
    longer than `run_us`.

    They are combined from left to right, as a session would combine them. A batch whose sums leave their type
    stays as it is: who makes windows of it learns that.

    `states`: of one batch or several, as `arranged` gives them, with `first_event` and `last_event`. `keys`:
    names of the key columns. `run_us`: the longest silence within a run, microseconds. `fields`: of the
    states.

    Returns the same columns; a run has the frame of its first event.
    """
    batch = instants(states[BATCH])
    heads = _heads(states, batch, keys, run_us)
    if len(heads) == len(states):
        return states
    try:
        return _joined(states, heads, fields)
    except (SourceError, pa.ArrowInvalid):
        borders = [*np.flatnonzero(run_starts(batch)).tolist(), len(states)]
        if len(borders) == 2:  # noqa: PLR2004 - of a single batch
            return states
    parts = (
        states.slice(begin, end - begin) for begin, end in pairwise(borders)
    )  # what a batch has does not depend on its neighbours
    return pa.concat_tables([runs(part, keys, run_us, fields) for part in parts])


def _heads(states: pa.Table, batch: Ints, keys: Sequence[str], run_us: int) -> Ints:
    """The first state of each run."""
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    first, last = instants(states[FIRST_EVENT]), instants(states[LAST_EVENT])
    begins = run_starts(codes, batch)
    begins[1:] |= first[1:] - last[:-1] > run_us
    return np.flatnonzero(begins)


def _joined(states: pa.Table, heads: Ints, fields: Sequence[Field]) -> pa.Table:
    """A state for each run."""
    last = instants(states[LAST_EVENT])
    joined = states.take(pa.array(heads))
    columns = {name: joined[name] for name in states.column_names}
    columns[LAST_EVENT] = pa.array(last[np.append(heads[1:], len(states)) - 1]).view(INSTANT)
    columns |= combined_fields(states, np.arange(len(states)), heads, fields)
    return pa.table({name: columns[name] for name in states.column_names}).cast(states.schema)
