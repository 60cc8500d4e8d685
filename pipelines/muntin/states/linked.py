"""A slot for each state, in the order of their first rows; the states of a key are linked, the latest first.

slots    0: a, frame 0 | 1: b, frame 0 | 2: a, frame 2 | 3: b, frame 1 | 4: a, frame 1
key a    2 -> 4 -> 0           a row finds its state at once where it is of the latest frame of its key, else a few links on
key b    3 -> 1

Rows may come in any order, but it is worth it only where they come nearly by time. With a reach, states are runs: a row belongs to the
state whose events are no further from it.

reach 3    - - a - - a - b - - - - a -      two runs of a, for 7 is more than 3

A row that comes late, between two runs and near both, is put to the earlier; the states of a run are then two, which `runs` joins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from muntin.states.frames import frame_numbers, frame_starts
from muntin.states.layout import Filled
from muntin.states.order import sorted_order

if TYPE_CHECKING:
    from muntin.definition.kinds import Cycle
    from muntin.states.frames import Ints

MOST_STATES = 2**21
"""What bounds the memory: 16 MB for a column of states."""
_TELLING = 2**20
"""So many rows tell how many states the others will make; among the first ones most keys are new."""
_LINKS_PER_ROW = 4  # on average; where rows go further back, a hash table is faster


def _none() -> Ints:
    return np.empty(0, np.int64)


@dataclass(slots=True, eq=False)
class Linked:
    """Slots that are given to states as they come.

    Attributes:
        cycle: where frames begin.
        rows: how many rows are expected at most.
        reach_us: how far a row may be from the events of its state; 0: it has the state of its frame.
        heads: the latest state of each key, by its number; -1 where it has none.
        owner, first, last, link: of each state its key, its ends, and the state of the key before it, or -1; with room for more. Ends are
            times, without a reach numbers of frames; they do not overlap.
        states: how many there are.
        came: how many rows came.
        links: how many links were followed.
        expected: how many states there will be, if all rows make as many as the last rows that came.
        outgrown: whether too many states are expected, or rows go far back.
    """

    cycle: Cycle
    rows: int
    reach_us: int = 0
    heads: Ints = field(default_factory=_none)
    owner: Ints = field(default_factory=_none)
    first: Ints = field(default_factory=_none)
    last: Ints = field(default_factory=_none)
    link: Ints = field(default_factory=_none)
    states: int = 0
    came: int = 0
    links: int = 0
    expected: int = 0
    outgrown: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """All slots are a single row of the table: none is laid out for a frame."""
        return 1, len(self.owner)

    def slots(self, time_us: Ints, key: Ints, keys: int) -> Ints | None:
        """The slot of each row; None where this layout is outgrown. `key`: numbers, of which there are `keys`."""
        from muntin.states.slot_kernels import linked_slots

        before, rows = self.states, len(key)
        self._make_room(rows, keys)
        at = time_us if self.reach_us else frame_numbers(time_us, self.cycle)
        slot = np.empty(rows, np.int64)
        self.came += rows
        most = _LINKS_PER_ROW * self.came - self.links
        known = self.heads, self.owner, self.first, self.last, self.link
        self.states, links = linked_slots(at, key, self.reach_us, *known, self.states, slot, most)
        self.links += links
        self.expected = self.states + (self.states - before) * max(self.rows - self.came, 0) // max(rows, 1)
        self.outgrown = (self.expected if self.came >= _TELLING else self.states) > MOST_STATES or links > most
        return None if self.outgrown else slot

    def _make_room(self, rows: int, keys: int) -> None:
        """Make room for so many more rows, each of which may be a state, and so many keys."""
        if keys > len(self.heads):
            self.heads = _longer(self.heads, keys + keys // 4, -1)
        if (least := self.states + rows) > len(self.owner):
            room = max(least, min(self.expected + rows, 4 * least))
            self.owner, self.first, self.last, self.link = (_longer(each, room) for each in (self.owner, self.first, self.last, self.link))

    def filled(self, counts: Ints, rank: Ints) -> Filled:  # noqa: ARG002 - each state has a row
        """The states, sorted by key and frame. `rank`: the place of each key among all."""
        owner, first = self.owner[: self.states], self.first[: self.states]
        order = sorted_order(rank[owner], first, unique=True)
        place = np.empty(self.states, np.int64)
        place[order] = np.arange(self.states)
        frame = frame_numbers(first[order], self.cycle) if self.reach_us else first[order]
        return Filled(np.arange(self.states), place, owner[order], frame_starts(frame, self.cycle))


def _longer(array: Ints, length: int, value: int = 0) -> Ints:
    out = np.full(length, value) if value else np.empty(length, np.int64)
    out[: len(array)] = array
    return out
