"""What must be recomputed of a window."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.definition.instants import AFTER_ALL


@dataclass(frozen=True, slots=True)
class Work:
    """What must be recomputed of one window.

    Attributes:
        positions: the batches whose windows are derived anew, ascending.
        low_us: states before it matter only where their batch is `since` or later.
        high_us: states from it on matter to no window of these positions.
        since: of batches from this position on earlier states matter as well.
        carry: of windows by arrival: files with what they held before that batch.
        snaps: positions of the batches after which what they hold shall be noted.
    """

    positions: tuple[int, ...]
    low_us: int
    high_us: int
    since: int = 0
    carry: tuple[str, ...] = ()
    snaps: tuple[int, ...] = ()


NOTHING = Work((), AFTER_ALL, AFTER_ALL)
