"""What each batch closed, missed and left open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from pipelines.definition.instants import AFTER_ALL

if TYPE_CHECKING:
    from pipelines.engine.windows import Combined
    from pipelines.states.frames import Ints


def tallies(combined: Combined, batches: int, *, opened: bool, late_any: np.ndarray | None = None) -> dict[str, Any]:
    """What each batch did, by its position.

    Args:
        combined: the windows and their states.
        batches: how many there are.
        opened: whether to find what is left open.
        late_any: for each state, whether it is late for a window of any definition; this one's alone unless given.

    Returns:
        windows: closed by it; late: of its rows, those too late for at least one window; missed: windows missed, summed
        over its rows; late_any: as late, of any definition; open: the earliest start of a window left open after it.
    """
    rows, missed, batch = combined.states["rows"].to_numpy(), combined.found.missed, combined.frames.batch
    late = missed > 0
    return {
        "windows": np.bincount(combined.found_closed, minlength=batches + 1)[:batches].tolist(),
        "late": _sums(batch, rows * late, batches),
        "missed": _sums(batch, rows * missed, batches),
        "late_any": _sums(batch, rows * (late if late_any is None else late_any), batches),
        "open": _left_open(combined, batches) if opened else None,
    }


def _sums(batch: Ints, amounts: Ints, batches: int) -> list[int]:
    if not amounts.any():
        return [0] * batches
    return np.bincount(batch, weights=amounts, minlength=batches)[:batches].astype(np.int64).tolist()


def _left_open(combined: Combined, batches: int) -> list[int]:
    """The earliest event that rows are held of after a batch, where that was noted; else the earliest start of an open window."""
    windows, earliest = combined.found, np.full(batches, AFTER_ALL)
    if (held := windows.held) is not None:
        np.minimum.at(earliest, held.position[held.note], combined.frames.start[held.row])
    elif len(windows.lo):
        first = np.minimum.reduceat(combined.frames.batch[windows.order], windows.lo)
        _lower(earliest, first, combined.found_closed, windows.start)
    return earliest.tolist()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _lower(earliest, first, closed, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for window in range(len(first)):
        for batch in range(first[window], min(closed[window], len(earliest))):
            earliest[batch] = min(earliest[batch], start[window])
