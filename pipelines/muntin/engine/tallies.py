"""Counts of each batch: windows closed, windows missed by its rows, and since when windows are open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from muntin.definition.instants import AFTER_ALL
from muntin.engine.windows import Combined
from muntin.states.frames import Ints


def tallies(
    combined: Combined, batches: int, wanted: Ints, *, opened: bool, late_any: np.ndarray | None = None
) -> dict[str, Any]:
    """Counts of some batches.

    `combined`: the windows and their states. `batches`: the number of batches. `wanted`: the positions of the
    batches to report. `opened`: whether to find open windows. `late_any`: for each state, whether it is late
    for a window of any definition; None: this definition is the only one.

    Returns windows: how many windows the batch closed. late: how many of its rows came too late for at least
    one window. missed: how many windows its rows missed, summed over the rows. late_any: as `late`, over the
    definitions that are derived together. hidden: how many of the windows that the batch closed are not
    published. open: the earliest start of a window that is open after the batch; `AFTER_ALL` if no window is.
    None: not asked for.
    """
    missed = combined.candidates.missed
    late = missed > 0
    return {
        "windows": np.bincount(combined.candidates_closed, minlength=batches + 1)[wanted].tolist(),
        "late": _rows_of(combined, late, batches)[wanted].tolist(),
        "missed": _rows_of(combined, missed, batches)[wanted].tolist(),
        "late_any": _rows_of(combined, late if late_any is None else late_any, batches)[wanted].tolist(),
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _lower(earliest, first, closed, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Lower the earliest start of each batch from a window's first batch up to the batch that closes it."""
    for window in range(len(first)):
        for batch in range(first[window], min(closed[window], len(earliest))):
            earliest[batch] = min(earliest[batch], start[window])
