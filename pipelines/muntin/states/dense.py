"""A slot for each frame and key, whether there is a row or not: states come out sorted, though no row is.

frame 0   | key a | key b | key c |       |    a slot: the count, the sums, ... of the rows of a key in a frame
frame 1   | key a | key b | key c |       |    rows come by time: rows at hand fall into neighbouring slots
frame 2   | key a | key b | key c |       |    room for new keys: the table grows to the right

It is worth it where there are few slots for many rows: see `fits`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muntin.states.frames import frame_numbers, frame_starts
from muntin.states.layout import Filled

if TYPE_CHECKING:
    from muntin.definition.kinds import Cycle
    from muntin.states.frames import Ints

MOST_SLOTS = 2**21
"""What bounds the memory: 16 MB for a column of states."""
_KEYS = 64  # room for so many, if they fit


def fits(frames: int, keys: int, rows: int) -> bool:
    """Whether a table with slots for so many frames and keys is worth it for so many rows."""
    return frames * keys <= min(rows, MOST_SLOTS)


@dataclass(slots=True, eq=False)
class Dense:
    """Slots for `frames` frames of a cycle from `first` on and for `room` keys, of at most `rows` rows."""

    cycle: Cycle
    first: int
    frames: int
    rows: int
    room: int = 0
    outgrown: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Frames and keys that there are slots for."""
        return self.frames, self.room

    def slots(self, time_us: Ints, key: Ints, keys: int) -> Ints | None:
        """The slot of each row; None if the table would be too large. `key`: numbers, of which there are `keys`."""
        self.outgrown = not fits(self.frames, keys, self.rows)
        if self.outgrown:
            return None
        if keys > self.room:
            self.room = min(max(_KEYS, keys + keys // 4), min(self.rows, MOST_SLOTS) // self.frames)
        return (frame_numbers(time_us, self.cycle) - self.first) * self.room + key

    def filled(self, counts: Ints, rank: Ints) -> Filled:
        """The slots with rows. They are read as they lie, and written to as many places as there are keys.

        Args:
            counts: of the rows of each slot.
            rank: the place of each key among all.
        """
        from muntin.states.slot_kernels import filled_slots

        states = np.count_nonzero(counts.reshape(-1, self.room), axis=0)
        order = np.argsort(rank)
        before = np.zeros(self.room, np.int64)
        before[order] = np.cumsum(states[order]) - states[order]
        slot, place = np.empty(states.sum(), np.int64), np.empty(states.sum(), np.int64)
        filled_slots(counts, self.room, before, slot, place)
        frame = np.empty(len(slot), np.int64)
        frame[place] = slot // self.room + self.first
        return Filled(slot, place, np.repeat(order, states[order]), frame_starts(frame, self.cycle))
