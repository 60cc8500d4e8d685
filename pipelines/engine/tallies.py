"""What each batch closed, missed and left open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from pipelines.engine.combine import Combined
    from pipelines.windows.kind import Ints

NONE = 2**62  # nothing was left open


def tallies(combined: Combined, batches: int, *, chained: bool) -> dict[str, Any]:
    """By position of the batch: windows closed, rows late for at least one window, windows missed by rows, and (for
    chains) the earliest start of a window left open after it.
    """
    rows = combined.states["rows"].to_numpy()
    late = combined.assignment.missed > 0
    by_batch = combined.frames.batch[late]
    return {
        "windows": np.bincount(combined.closed, minlength=batches + 1)[:batches].tolist(),
        "late": _sums(by_batch, rows[late], batches),
        "missed": _sums(by_batch, (rows * combined.assignment.missed)[late], batches),
        "open": _left_open(combined, batches).tolist() if chained else None,
    }


def _sums(batch: Ints, amounts: Ints, batches: int) -> list[int]:
    return np.bincount(batch, weights=amounts, minlength=batches)[:batches].astype(np.int64).tolist()


def _left_open(combined: Combined, batches: int) -> Ints:
    windows = combined.found
    earliest: Ints = np.full(batches, NONE)
    if len(windows.lo):
        first = np.minimum.reduceat(combined.frames.batch[windows.order], windows.lo)
        _lower(earliest, first, combined.found_closed, windows.start)
    return earliest


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _lower(earliest, first, closed, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for window in range(len(first)):
        for batch in range(first[window], min(closed[window], len(earliest))):
            earliest[batch] = min(earliest[batch], start[window])
