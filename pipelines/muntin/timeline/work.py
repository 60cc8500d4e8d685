"""The work of a window: the batches that must be recomputed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Stops:
    """Places where work from batch to batch may end, since the open windows there may be as before.

    Attributes:
        changed: the positions of the batches that differ from the ledger, ascending.
        noted: the positions of the batches after which the ledger has a note, ascending.
        files: of the notes.
    """

    changed: Ints
    noted: Ints
    files: tuple[tuple[str, ...], ...]

    def note_after(self, position: int) -> tuple[str, ...] | None:
        """The files of the note that was made after a batch; None if there is none."""
        at = int(np.searchsorted(self.noted, position))
        return self.files[at] if at < len(self.noted) and self.noted[at] == position else None

    def without_note(self, files: tuple[str, ...]) -> Stops:
        """The stops as if the note in some files had never been written."""
        left = [at for at, others in enumerate(self.files) if others != files]
        return Stops(self.changed, self.noted[left], tuple(self.files[at] for at in left))


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The batches of one window that must be recomputed, and the states that they are computed from.

        batches              0    1    2    3    4    5    6
        positions                           3    4    5           their windows are derived anew
        since                               3              from this batch on, states of any time are read
        earlier batches      states in [low_us, high_us) alone    none where a note stands for them

    Attributes:
        positions: the batches whose windows are derived anew, ascending.
        low_us: states before it are read only where their batch is `since` or later.
        high_us: states at it or later belong to no window of the positions.
        since: see above.
        note: the files of a note with what was open before batch `since`; () where the work goes on from
            states alone.
        notes_after: the positions of the batches after which a note is made.
        stops: where the work may end before the last of the positions; None where it goes through all of
            them. See `timeline.parts`.
        shards: how many tasks make a note that can be compared with an earlier note; 0: as many as the rows
            are worth.
    """

    positions: Ints
    low_us: int
    high_us: int
    since: int = 0
    note: tuple[str, ...] = ()
    notes_after: tuple[int, ...] = ()
    stops: Stops | None = None
    shards: int = 0

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return len(self.positions) > 0


NOTHING = Work(np.empty(0, np.int64), AFTER_ALL, AFTER_ALL)
