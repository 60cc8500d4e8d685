"""The slots of a column of states with a value, of any type, of the row where something else is least or greatest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from muntin.states.frames import Ints
    from muntin.states.layout import Lifted, RowsAtHand


@dataclass(slots=True)
class AtExtreme:
    """The slots, with the best row of each so far. Values are taken from their rows once for each batch of rows.

    Attributes:
        lifted: what fills the column.
        of: the type of the values.
        best: what decides, of the best row; int64 or float64.
        time_us: when this row was.
        place: of its value in `pieces` joined; -1 while a slot has no row.
        pieces: the values of rows that were the best of their slot after some batch.
        kept: how many values `pieces` have.
    """

    lifted: Lifted
    of: pa.DataType
    best: np.ndarray
    time_us: Ints
    place: Ints
    pieces: list[pa.Array] = field(default_factory=list)
    kept: int = 0

    @property
    def is_finite(self) -> bool:
        """Nothing is added here."""
        return True

    @classmethod
    def empty(cls, lifted: Lifted, rows: pa.Schema, slots: int) -> Self:
        """Slots without a row, so many. `rows`: the columns of the rows."""
        kind = np.float64 if pa.types.is_floating(rows.field(lifted.by).type) else np.int64
        return cls(lifted, rows.field(lifted.of).type, np.zeros(slots, kind), np.zeros(slots, np.int64), np.full(slots, -1))

    def widened(self, frames: int, keys: int) -> None:
        """Make room for so many keys."""
        self.best, self.time_us = (widened_slots(each, frames, keys, 0) for each in (self.best, self.time_us))
        self.place = widened_slots(self.place, frames, keys, -1)

    def take(self, rows: RowsAtHand) -> bool:
        """Add some rows."""
        from muntin.states.slot_kernels import keep_extreme

        by, valid = rows.numbers(self.lifted.by)
        won = np.empty(len(by), np.int64)
        slots, greatest = (self.best, self.time_us, self.place, self.kept), self.lifted.what == "at_greatest"
        count = keep_extreme(*slots, won, rows.slot, rows.time_us, by, valid, greatest)
        self.pieces.append(rows.columns[self.lifted.of].take(pa.array(won[:count])))
        self.kept += count
        return True

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:  # noqa: ARG002 - a slot alone says what its state is
        """The values of the slots for each state. `slot`, `place`: of each state."""
        from muntin.states.slot_kernels import moved

        at = moved(self.place, slot, place)
        values = pa.chunked_array(self.pieces, self.of).take(pa.array(at, mask=at < 0)).combine_chunks()
        return _one_zero(values) if pa.types.is_floating(self.of) else values


def _one_zero(values: pa.Array) -> pa.Array:
    """Floats with one zero and one NaN: DuckDB's arg_min and arg_max by several columns leave no others."""
    return pc.if_else(pc.is_nan(values), pa.scalar(math.nan, values.type), pc.add(values, pa.scalar(0, values.type)))


def widened_slots(slots: np.ndarray, frames: int, keys: int, empty: int) -> np.ndarray:
    """The slots with room for more keys, which are empty. `frames`, `keys`: how many there are then."""
    if not len(slots):
        return slots
    before = slots.reshape(frames, -1)
    wide = np.full((frames, keys), empty, slots.dtype)
    wide[:, : before.shape[1]] = before
    return wide.reshape(-1)
