"""How slots are laid out: dense, a slot for each frame and key; or linked, a slot for each state.

A slot for each frame and key, whether there is a row or not: states come out sorted, though no row is.

frame 0   | key a | key b | key c |       |    a slot: the sums of the rows of a key in a frame
frame 1   | key a | key b | key c |       |    rows come by time: rows at hand fall into neighbouring slots
frame 2   | key a | key b | key c |       |    room for new keys: the table grows to the right

It is worth it where there are few slots for many rows: see `fits`.

A slot for each state, in the order of their first rows; the states of a key are linked, the latest first.

slots    0: a, frame 0 | 1: b, frame 0 | 2: a, frame 2 | 3: b, frame 1 | 4: a, frame 1
key a    2 -> 4 -> 0           a row of its key's latest frame finds its state at once, else a few links on
key b    3 -> 1

Rows may come in any order, but it is worth it only where they come nearly by time. With a reach, states are
runs: a row belongs to the state whose events are no further from it.

reach 3    - - a - - a - b - - - - a -      two runs of a, for 7 is more than 3

A row that comes late, between two runs and near both, is put to the earlier; the states of a run are then
two, which `runs` joins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from muntin.definition.expressions import What
from muntin.definition.kinds import Cycle
from muntin.states.frames import NO_INTS, Ints, frame_numbers, frame_starts
from muntin.states.order import sorted_order


@dataclass(frozen=True, slots=True)
class Lifted:
    """A column of states: `what` of the values of the column `of` of the rows, int64 or float64. "value" is
    left to groups.

    `by`: of values of any type, the column that decides between rows, int64 or float64.
    """

    what: What
    of: str
    by: str = ""


@dataclass(slots=True)
class RowsAtHand:
    """Some rows in order of arrival: the slot and the time of each, microseconds, and their columns."""

    slot: Ints
    time_us: Ints
    columns: pa.RecordBatch
    _numbers: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def numbers(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A column with zeros for nulls; and which values are not null, an empty array where all are."""
        if name not in self._numbers:
            column = self.columns[name]
            filled = column.fill_null(0) if column.null_count else column
            valid = (
                column.is_valid().to_numpy(zero_copy_only=False)
                if column.null_count
                else np.empty(0, np.bool_)
            )
            self._numbers[name] = filled.to_numpy(zero_copy_only=False), valid
        return self._numbers[name]


class SlotColumn(Protocol):
    """A column of states while rows are added: `lifted` says what fills it."""

    lifted: Lifted

    @property
    def is_finite(self) -> bool:
        """Whether no sum is infinite or NaN."""

    def widened(self, frames: int, keys: int) -> None:
        """Make room for so many keys in each of so many frames."""

    def take(self, rows: RowsAtHand) -> bool:
        """Add some rows; False if their sum is left to groups."""

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:
        """The values of the slots for each state. `counts`: rows of slots; `slot`, `place`: of states."""


class Filled(NamedTuple):
    """The slots that have rows.

    Attributes:
        slot: of each state.
        place: the place of each state, sorted by (bucket, key, frame).
        key, frame: the number of the key and the start of the frame of each state, microseconds, as they are
            sorted.
    """

    slot: Ints
    place: Ints
    key: Ints
    frame: Ints


class Layout(Protocol):
    """Which slot the state of a row has. `outgrown`: whether the layout is not worth it any more."""

    outgrown: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table of slots; columns may be added at the right."""

    def slots(self, time_us: Ints, key: Ints, keys: int) -> Ints | None:
        """The slot of each row; None where the layout is outgrown. `key`: numbers below `keys`."""

    def filled(self, counts: Ints, rank: Ints) -> Filled:
        """The slots with rows. `counts`: the rows of each slot; `rank`: the place of each key among all."""


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
        self.outgrown = not fits(self.frames, keys, self.rows)
        if self.outgrown:
            return None
        if keys > self.room:
            self.room = min(max(_KEYS, keys + keys // 4), min(self.rows, MOST_SLOTS) // self.frames)
        return (frame_numbers(time_us, self.cycle) - self.first) * self.room + key

    def filled(self, counts: Ints, rank: Ints) -> Filled:
        """The slots with rows. They are read as they lie, and written to as many places as there are keys.

        `counts`: of the rows of each slot. `rank`: the place of each key among all.
        """
        from muntin.states.slot_kernels import filled_slots

        states = np.count_nonzero(counts.reshape(-1, self.room), axis=0)
        order = np.argsort(rank)
        before = np.zeros(self.room, np.int64)
        before[order] = np.cumsum(states[order]) - states[order]
        slot = np.empty(states.sum(), np.int64)
        place = np.empty(states.sum(), np.int64)
        filled_slots(counts, self.room, before, slot, place)
        frame = np.empty(len(slot), np.int64)
        frame[place] = slot // self.room + self.first
        return Filled(slot, place, np.repeat(order, states[order]), frame_starts(frame, self.cycle))


MOST_STATES = 2**21
"""What bounds the memory: 16 MB for a column of states."""
_TELLING = 2**20
"""So many rows tell how many states the others will make; among the first ones most keys are new."""
_LINKS_PER_ROW = 4  # on average; where rows go further back, a hash table is faster


def _none() -> Ints:
    return NO_INTS


@dataclass(slots=True, eq=False)
class Linked:
    """Slots that are given to states as they come.

    Attributes:
        cycle: where frames begin.
        rows: how many rows are expected at most.
        reach_us: how far a row may be from the events of its state; 0: it has the state of its frame.
        heads: the latest state of each key, by its number; -1 where it has none.
        owner, first, last, link: of each state its key, its ends, and the state of the key before it, or -1;
            with room for more. Ends are times, without a reach numbers of frames; they do not overlap.
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
        from muntin.states.slot_kernels import linked_slots

        before, rows = self.states, len(key)
        self._make_room(rows, keys)
        at = time_us if self.reach_us else frame_numbers(time_us, self.cycle)
        slot = np.empty(rows, np.int64)
        self.came += rows
        most = _LINKS_PER_ROW * self.came - self.links
        slot_columns = self.heads, self.owner, self.first, self.last, self.link
        self.states, links = linked_slots(at, key, self.reach_us, *slot_columns, self.states, slot, most)
        self.links += links
        self.expected = self.states + (self.states - before) * max(self.rows - self.came, 0) // max(rows, 1)
        self.outgrown = (
            self.expected if self.came >= _TELLING else self.states
        ) > MOST_STATES or links > most
        return None if self.outgrown else slot

    def _make_room(self, rows: int, keys: int) -> None:
        """Make room for so many more rows, each of which may be a state, and so many keys."""
        if keys > len(self.heads):
            self.heads = _longer(self.heads, keys + keys // 4, -1)
        if (least := self.states + rows) > len(self.owner):
            room = max(least, min(self.expected + rows, 4 * least))
            self.owner, self.first, self.last, self.link = (
                _longer(each, room) for each in (self.owner, self.first, self.last, self.link)
            )

    def filled(self, counts: Ints, rank: Ints) -> Filled:  # noqa: ARG002 - each state has a row
        owner = self.owner[: self.states]
        first = self.first[: self.states]
        order = sorted_order(rank[owner], first, unique=True)
        place = np.empty(self.states, np.int64)
        place[order] = np.arange(self.states)
        frame = frame_numbers(first[order], self.cycle) if self.reach_us else first[order]
        return Filled(np.arange(self.states), place, owner[order], frame_starts(frame, self.cycle))


def _longer(array: Ints, length: int, value: int = 0) -> Ints:
    out = np.full(length, value) if value else np.empty(length, np.int64)
    out[: len(array)] = array
    return out
