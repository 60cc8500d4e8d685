"""The slots of columns of states that are values or sorted lists of distinct values.

A value is of the row where something else is least or greatest. Lists are of all rows, with their counts, or
of the rows where something else is least or greatest: values are kept as they come, with their slots; equal
values are put together, and lists are made at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.frames import Ints, run_starts
from muntin.states.order import sorted_order
from muntin.states.slot_tables import Lifted, RowsAtHand, SlotColumn


@dataclass(slots=True)
class AtExtreme:
    """The slots, with the best row of each so far. Values are taken from their rows once for each batch of
    rows.

    Attributes:
        lifted: what fills the column.
        of: the type of the values.
        best: what decides, of the best row; int64 or float64.
        time_us: when this row was.
        place: of its value in `pieces` joined; -1 while a slot has no row.
        pieces: the values of rows that were the best of their slot after some batch.
        size: how many values `pieces` have.
    """

    lifted: Lifted
    of: pa.DataType
    best: np.ndarray
    time_us: Ints
    place: Ints
    pieces: list[pa.Array] = field(default_factory=list)
    size: int = 0
    is_finite = True  # nothing is added here

    @classmethod
    def empty(cls, lifted: Lifted, rows: pa.Schema, slots: int) -> Self:
        """Slots without a row, so many. `rows`: the columns of the rows."""
        kind = np.float64 if pa.types.is_floating(rows.field(lifted.by).type) else np.int64
        return cls(
            lifted,
            rows.field(lifted.of).type,
            np.zeros(slots, kind),
            np.zeros(slots, np.int64),
            np.full(slots, -1),
        )

    def widened(self, frames: int, keys: int) -> None:
        self.best, self.time_us = (widened_slots(each, frames, keys, 0) for each in (self.best, self.time_us))
        self.place = widened_slots(self.place, frames, keys, -1)

    def take(self, rows: RowsAtHand) -> bool:
        from muntin.states.slot_kernels import keep_extreme

        by, valid = rows.numbers(self.lifted.by)
        won = np.empty(len(by), np.int64)
        slots = (self.best, self.time_us, self.place, self.size)
        greatest = self.lifted.what == "at_greatest"
        count = keep_extreme(*slots, won, rows.slot, rows.time_us, by, valid, greatest)
        self.pieces.append(rows.columns[self.lifted.of].take(pa.array(won[:count])))
        self.size += count
        return True

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:  # noqa: ARG002 - a slot alone says what its state is
        from muntin.states.slot_kernels import moved

        at = moved(self.place, slot, place)
        values = pa.chunked_array(self.pieces, self.of).take(pa.array(at, mask=at < 0)).combine_chunks()
        return _one_zero(values) if pa.types.is_floating(self.of) else values


def _one_zero(values: pa.Array) -> pa.Array:
    """Floats with one zero and one NaN, as DuckDB's arg_min and arg_max by several columns have them."""
    return pc.if_else(
        pc.is_nan(values), pa.scalar(math.nan, values.type), pc.add(values, pa.scalar(0, values.type))
    )


def widened_slots(slots: np.ndarray, frames: int, keys: int, empty: int) -> np.ndarray:
    """The slots with room for more keys, which are empty. `frames`, `keys`: how many there are then."""
    if not len(slots):
        return slots
    before = slots.reshape(frames, -1)
    wide = np.full((frames, keys), empty, slots.dtype)
    wide[:, : before.shape[1]] = before
    return wide.reshape(-1)


_MOST_PACKED = 2**62
_AT_LEAST = 2**20  # so many new entries are worth putting together


class _Counted(NamedTuple):
    """Distinct pairs of a slot and a value, and how often each came."""

    slot: Ints
    value: Ints
    often: Ints

    def put_together(self) -> _Counted | None:
        """Each pair once, sorted; None where slots and values do not fit 62 bits together."""
        if not len(self.slot):
            return self
        least = int(self.value.min())
        many = int(self.value.max()) - int(self.value.min()) + 1
        if many * (int(self.slot.max()) + 1) >= _MOST_PACKED:
            return None
        pair = self.slot * many + (self.value - least)
        if not len(self.often):  # each came once
            pair, often = np.unique(pair, return_counts=True)
        else:
            order = sorted_order(pair)
            heads = np.flatnonzero(run_starts(pair[order]))
            pair = pair[order][heads]
            often = np.add.reduceat(self.often[order], heads)
        slot, value = np.divmod(pair, many)
        return _Counted(slot, value + least, often)


@dataclass(slots=True)
class Occurrences:
    """The distinct whole numbers of each slot, and how often each came.

    Attributes:
        keys: how many slots a frame has.
        pieces: what came; the first is put together.
        new: how many pairs the later pieces have.
    """

    keys: int
    pieces: list[_Counted] = field(default_factory=list)
    new: int = 0

    def widened(self, keys: int) -> None:
        self.pieces = [each._replace(slot=_renumbered(each.slot, self.keys, keys)) for each in self.pieces]
        self.keys = keys

    def take(self, slot: Ints, value: np.ndarray, valid: np.ndarray) -> bool:
        """Add the values of some rows; False where they do not fit."""
        if len(valid):
            slot, value = slot[valid], value[valid]
        piece = _Counted(slot, value.astype(np.int64, copy=False), slot[:0]).put_together()
        if piece is None:
            return False
        self.pieces.append(piece)
        self.new += len(piece.slot)
        return self.new < max(_AT_LEAST, len(self.pieces[0].slot)) or self.together() is not None

    def together(self) -> _Counted | None:
        """Each pair that came, once; None where slots and values do not fit 62 bits together."""
        if len(self.pieces) > 1:
            joined = _Counted(*map(np.concatenate, zip(*self.pieces, strict=True))).put_together()
            if joined is None:
                return None
            self.pieces, self.new = [joined], 0
        return self.pieces[0]


@dataclass(slots=True)
class OfOccurrences:
    """A column with the values, or with their counts. `leads`: this column adds the rows to `pairs`."""

    lifted: Lifted
    of: pa.DataType
    pairs: Occurrences
    leads: bool

    @property
    def is_finite(self) -> bool:
        return self.pairs.together() is not None

    def widened(self, frames: int, keys: int) -> None:  # noqa: ARG002 - values need no more room for more frames
        if self.leads:
            self.pairs.widened(keys)

    def take(self, rows: RowsAtHand) -> bool:
        return not self.leads or self.pairs.take(rows.slot, *rows.numbers(self.lifted.of))

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:
        pairs = self.pairs.together()
        assert pairs is not None  # noqa: S101 - `is_finite` says so
        state = _state_of_slot(len(counts), slot, place)[pairs.slot]
        order = sorted_order(state)
        values = (
            pa.array(pairs.value).cast(self.of) if self.lifted.what == "distinct" else pa.array(pairs.often)
        )
        return _lists(state[order], values.take(pa.array(order)), len(slot))


@dataclass(slots=True)
class AllAtExtreme:
    """The values of all rows of a slot where something else is least or greatest.

    Attributes:
        lifted: what fills the column.
        of: the type of the values.
        best: what decides, the best so far of each slot; int64 or float64.
        some: whether a slot has a row.
        keys: how many slots a frame has.
        pieces: of rows that were best after some batch: the slot, what decides, and the value.
    """

    lifted: Lifted
    of: pa.DataType
    best: np.ndarray
    some: np.ndarray
    keys: int
    pieces: list[tuple[Ints, np.ndarray, pa.Array]] = field(default_factory=list)
    is_finite = True  # nothing is added here

    @classmethod
    def empty(cls, lifted: Lifted, rows: pa.Schema, frames: int, keys: int) -> Self:
        """Slots without a row, for so many frames and keys. `rows`: the columns of the rows."""
        kind = np.float64 if pa.types.is_floating(rows.field(lifted.by).type) else np.int64
        return cls(
            lifted,
            rows.field(lifted.of).type,
            np.zeros(frames * keys, kind),
            np.zeros(frames * keys, np.bool_),
            keys,
        )

    def widened(self, frames: int, keys: int) -> None:
        self.best, self.some = (widened_slots(each, frames, keys, 0) for each in (self.best, self.some))
        self.pieces = [(_renumbered(slot, self.keys, keys), by, value) for slot, by, value in self.pieces]
        self.keys = keys

    def take(self, rows: RowsAtHand) -> bool:
        from muntin.states.slot_kernels import keep_extremes

        by, valid = rows.numbers(self.lifted.by)
        won = np.empty(len(by), np.int64)
        won = won[
            : keep_extremes(
                self.best, self.some, won, rows.slot, by, valid, self.lifted.what == "all_at_greatest"
            )
        ]
        won = won[self._are_best(rows.slot[won], by[won])]
        self.pieces.append((rows.slot[won], by[won], rows.columns[self.lifted.of].take(pa.array(won))))
        return True

    def _are_best(self, slot: Ints, by: np.ndarray) -> np.ndarray:
        best = self.best[slot]
        return (best == by) | (np.isnan(best) & np.isnan(by))

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:
        of, by, values = zip(*self.pieces, strict=True)
        slots = np.concatenate(of)
        value = pa.chunked_array(values, self.of).combine_chunks()
        holding = self._are_best(slots, np.concatenate(by)) & value.is_valid().to_numpy(zero_copy_only=False)
        state = _state_of_slot(len(counts), slot, place)[slots[holding]]
        value = value.filter(pa.array(holding))
        rank = pc.rank(value, tiebreaker="dense").to_numpy().astype(np.int64)
        order = sorted_order(state, rank)
        order = order[run_starts(state[order], rank[order])]
        return _lists(state[order], value.take(pa.array(order)), len(slot))


def empty_lists(
    lifted: Lifted, rows: pa.Schema, frames: int, keys: int, slot_columns: Mapping[str, SlotColumn]
) -> SlotColumn:
    """A column without a value. `rows`: columns of rows; `slot_columns`: they may count the same values."""
    if lifted.by:
        return AllAtExtreme.empty(lifted, rows, frames, keys)
    alike = (
        each.pairs
        for each in slot_columns.values()
        if isinstance(each, OfOccurrences) and each.lifted.of == lifted.of
    )
    shared = next(alike, None)
    return OfOccurrences(
        lifted, rows.field(lifted.of).type, shared or Occurrences(keys), leads=shared is None
    )


def _renumbered(slot: Ints, before: int, keys: int) -> Ints:
    """The numbers of slots in a table that has `keys` slots a frame, where it had `before`."""
    frame, key = np.divmod(slot, before)
    return frame * keys + key


def _state_of_slot(slots: int, slot: Ints, place: Ints) -> Ints:
    state = np.zeros(slots, np.int64)
    state[slot] = place
    return state


def _lists(state: Ints, items: pa.Array, states: int) -> pa.Array:
    """A list for each state. `state`: of each item, ascending."""
    bounds = np.searchsorted(state, np.arange(states + 1))
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), items)
