"""A column of states that are lists of numbers: rows are kept as they come, and put together by state at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from muntin.states.frames import Ints
    from muntin.states.layout import Lifted


@dataclass(slots=True)
class Numbers:
    """The numbers of the rows that came so far.

    Attributes:
        lifted: what fills the column.
        slot, value, valid: of each row, int32, float64 and bool, with room for all rows.
        keys: how many slots a frame has.
        came: how many rows came.
    """

    lifted: Lifted
    slot: np.ndarray
    value: np.ndarray
    valid: np.ndarray
    keys: int
    came: int = 0

    @property
    def is_finite(self) -> bool:
        """Nothing is added here: a list may hold whatever a row has."""
        return True

    @classmethod
    def empty(cls, lifted: Lifted, keys: int, rows: int) -> Self:
        """Room for so many rows, of frames with so many keys."""
        return cls(lifted, np.empty(rows, np.int32), np.empty(rows), np.empty(rows, np.bool_), keys)

    def widened(self, frames: int, keys: int) -> None:  # noqa: ARG002 - rows need no more room for more frames
        """Make room for so many keys."""
        frame, key = np.divmod(self.slot[: self.came], self.keys)
        self.slot[: self.came] = frame * keys + key
        self.keys = keys

    def take(self, slot: Ints, time_us: Ints, value: np.ndarray, valid: np.ndarray) -> bool:  # noqa: ARG002 - lists keep no times
        """Add some rows in order of arrival. `valid`: empty if no value is null."""
        new = slice(self.came, self.came + len(slot))
        self.slot[new], self.value[new], self.valid[new] = slot, value, valid if len(valid) else True
        self.came = new.stop
        return True

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:
        """A list for each state, in the order of the rows. `counts`: of each slot; `slot`, `place`: of each state."""
        from muntin.states.slot_kernels import put_together

        lengths = np.empty(len(slot), np.int64)
        lengths[place] = counts[slot]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        begin = np.empty(len(counts), np.int64)
        begin[slot] = bounds[place]
        value, valid = np.empty(self.came), np.empty(self.came, np.bool_)
        put_together(self.slot[: self.came], self.value, self.valid, begin, value, valid)
        return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(value, mask=None if valid.all() else ~valid))
