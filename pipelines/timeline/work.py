"""What must be recomputed of a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipelines.definition.instants import AFTER_ALL

if TYPE_CHECKING:
    from pipelines.states.frames import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What must be recomputed of one window, and from which states.

        batches              0    1    2    3    4    5    6
        positions                           3    4    5           their windows are derived anew
        since                               3                     from this batch on, states of any time are read
        earlier batches      states in [low_us, high_us) alone    none where a note stands for them

    Attributes:
        positions: the batches whose windows are derived anew, ascending.
        low_us: states before it are read only where their batch is `since` or later.
        high_us: states at it or later belong to no window of these positions.
        since: see above.
        note: the files of a note with what was open before batch `since`; () where the work goes on from states alone.
        notes_after: the positions of the batches after which a note is made.
    """

    positions: Ints
    low_us: int
    high_us: int
    since: int = 0
    note: tuple[str, ...] = ()
    notes_after: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return len(self.positions) > 0


NOTHING = Work(np.empty(0, np.int64), AFTER_ALL, AFTER_ALL)
