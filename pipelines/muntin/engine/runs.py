"""Runs: states of a key whose events lie so near that they belong to one session, joined to one state.

gap 10     events        x  x    x         x  x  x
           frames     [0, 10)  [10, 20)    [40, 50)      three states
           runs       |-------------|      |------|      two, each in the frame of its first event
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.windows import combined_fields
from muntin.errors import SourceError
from muntin.states.columns import BATCH, FIRST_EVENT, INSTANT, LAST_EVENT
from muntin.states.frames import run_starts
from muntin.states.keys import contiguous, key_codes
from muntin.states.sorted import instants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.engine.protocols import Field
    from muntin.states.frames import Ints


def runs(states: pa.Table, keys: Sequence[str], run_us: int, fields: Sequence[Field]) -> pa.Table:
    """The states of a split, where states of a key and batch are joined if the silence between them is no longer than `run_us`.

    They are combined from left to right, as a session would combine them. A batch whose sums leave their type stays as it is: who makes
    windows of it learns that.

    Args:
        states: of one batch or several, as `arranged` gives them, with `first_event` and `last_event`.
        keys: names of the key columns.
        run_us: the longest silence within a run, microseconds.
        fields: of the states.

    Returns:
        the same columns; a run has the frame of its first event.
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
    parts = (states.slice(begin, end - begin) for begin, end in pairwise(borders))  # what a batch has does not depend on its neighbours
    return pa.concat_tables([runs(part, keys, run_us, fields) for part in parts])


def _heads(states: pa.Table, batch: Ints, keys: Sequence[str], run_us: int) -> Ints:
    """The first state of each run."""
    codes = key_codes([contiguous(states[key]) for key in keys], len(states))
    first, last = instants(states[FIRST_EVENT]), instants(states[LAST_EVENT])
    begins = run_starts(codes, batch)
    begins[1:] |= first[1:] - last[:-1] > run_us
    return np.flatnonzero(begins)


def _joined(states: pa.Table, heads: Ints, fields: Sequence[Field]) -> pa.Table:
    """A state for each run.

    Raises:
        SourceError, pa.ArrowInvalid: a sum leaves its type.
    """
    last = instants(states[LAST_EVENT])
    joined = states.take(pa.array(heads))
    columns = {name: joined[name] for name in states.column_names}
    columns[LAST_EVENT] = pa.array(last[np.append(heads[1:], len(states)) - 1]).view(INSTANT)
    columns |= combined_fields(states, np.arange(len(states)), heads, fields)
    return pa.table({name: columns[name] for name in states.column_names}).cast(states.schema)
