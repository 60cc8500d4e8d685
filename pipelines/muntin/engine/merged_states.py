"""The states of one batch, combined to one state per key and frame; and counts of each batch: windows closed,
windows missed by its rows, and since when windows are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL
from muntin.engine.protocols import Field
from muntin.engine.windows import Combined, combined_fields
from muntin.errors import SourceError
from muntin.states.columns import BATCH, FIRST_EVENT, FRAME, INSTANT, LAST_EVENT
from muntin.states.frames import Ints, compiled_for_many, run_starts
from muntin.states.keys import codes_of
from muntin.states.order import sorted_order
from muntin.states.sorted import instants


def tallies(
    combined: Combined, batches: int, wanted: Ints, *, opened: bool, late_any: np.ndarray | None = None
) -> dict[str, Any]:
    """Counts of some batches.

    `combined`: the windows and their states. `batches`: the number of batches. `wanted`: the positions of the
    batches to report. `opened`: whether to find open windows. `late_any`: for each state, whether it is late
    for a window of any definition; None: this definition is the only one.

    Returns windows: how many windows the batch closed. late: how many of its rows came too late for at least
    one window. missed: how many windows its rows missed, summed over the rows. late_any: as `late`, over the
    definitions that are derived together. correcting: how many of its rows revise a window that an earlier
    batch had closed, and miss none. hidden: how many of the windows that the batch closed are not
    published. open: the earliest start of a window that is open after the batch; `AFTER_ALL` if no window is.
    None: not asked for.
    """
    missed = combined.candidates.missed
    late, correcting = missed > 0, combined.correcting
    return {
        "windows": np.bincount(combined.candidates_closed, minlength=batches + 1)[wanted].tolist(),
        "late": _rows_of(combined, late, batches)[wanted].tolist(),
        "missed": _rows_of(combined, missed, batches)[wanted].tolist(),
        "late_any": _rows_of(combined, late if late_any is None else late_any, batches)[wanted].tolist(),
        "correcting": _rows_of(combined, late[:0] if correcting is None else correcting, batches)[
            wanted
        ].tolist(),
        "hidden": _hidden(combined, batches)[wanted].tolist(),
        "open": _left_open(combined, batches)[wanted].tolist() if opened else None,
    }


def _hidden(combined: Combined, batches: int) -> Ints:
    """How many of the windows that each batch closed are hidden."""
    hidden = combined.closed[:0] if combined.shown is None else combined.closed[~combined.shown]
    return np.bincount(hidden, minlength=batches + 1)


def _rows_of(combined: Combined, times: np.ndarray, batches: int) -> Ints:
    """The number of rows of each batch; rows of a state count as often as `times` says."""
    if not times.any():
        return np.zeros(batches, np.int64)
    amounts = combined.states["rows"].to_numpy() * times
    return np.bincount(combined.frames.batch, weights=amounts, minlength=batches)[:batches].astype(np.int64)


def _left_open(combined: Combined, batches: int) -> Ints:
    """The earliest start of a window open after each batch; by arrival, of an event that a note holds."""
    windows, earliest = combined.candidates, np.full(batches, AFTER_ALL)
    if (held := windows.held) is not None and held.all_open:
        np.minimum.at(earliest, held.position[held.note], combined.frames.start[held.row])
    elif len(windows.lo):
        first = np.minimum.reduceat(combined.frames.batch[windows.order], windows.lo)
        _lower(earliest, first, combined.candidates_closed, windows.start)
    return earliest


@compiled_for_many
def _lower(earliest, first, closed, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Lower the earliest start of each batch from a window's first batch up to the batch that closes it."""
    for window in range(len(first)):
        for batch in range(first[window], min(closed[window], len(earliest))):
            earliest[batch] = min(earliest[batch], start[window])


def merged(
    table: pa.Table, keys: Sequence[str], fields: Sequence[Field], greatest: Iterable[str] = ()
) -> pa.Table:
    """One state per key and frame.

    `table`: states in order of arrival, several per key and frame: key columns, frame, event times if kept,
    fields' columns. `keys`: names of the key columns. `fields`: how the other columns combine. `greatest`:
    more columns, of which the greatest value stays; of booleans whether any is true.
    """
    codes = codes_of(table, keys)
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
    codes = codes_of(states, keys)
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
