"""Names that lock batches: of two commits that replace a batch, from one snapshot of a
table, one succeeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.states.keys import scattered

if TYPE_CHECKING:
    from muntin.states.frames import Ints

_LOCKS = 64  # few enough for the log of a table to keep for ever


def locks(starts: Ints) -> list[str]:
    """The names that lock these batches. Two batches may share a name."""
    return [f"batch/{number}" for number in np.unique(scattered(starts) % np.uint64(_LOCKS)).tolist()]


def every_lock() -> list[str]:
    """The names that lock all batches."""
    return [f"batch/{number}" for number in range(_LOCKS)]
