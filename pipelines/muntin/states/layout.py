"""How slots are laid out for the states of rows, and what a column of states does with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.definition.plain_lifts import What
    from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True)
class Lifted:
    """A column of states: `what` of the values of the column `of` of the rows, int64 or float64. "value" is left to groups.

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
        """The values of a column, with zeros for nulls; and which of them are no nulls, an empty array where all are."""
        if name not in self._numbers:
            column = self.columns[name]
            filled = column.fill_null(0) if column.null_count else column
            valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else np.empty(0, np.bool_)
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
        """The values of the slots for each state. `counts`: the rows of each slot; `slot`, `place`: of each state."""


class Filled(NamedTuple):
    """The slots that have rows.

    Attributes:
        slot: of each state.
        place: of each of these where states are sorted by (bucket, key, frame).
        key, frame: the number of the key and the start of the frame of each state, microseconds, as they are sorted.
    """

    slot: Ints
    place: Ints
    key: Ints
    frame: Ints


class Layout(Protocol):
    """Which slot the state of a row has. `outgrown`: whether rows came for which this layout is not worth it."""

    outgrown: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table of slots; columns may be added at the right."""

    def slots(self, time_us: Ints, key: Ints, keys: int) -> Ints | None:
        """The slot of each row; None where this layout is outgrown. `key`: numbers, of which there are `keys`."""

    def filled(self, counts: Ints, rank: Ints) -> Filled:
        """The slots with rows. `counts`: the rows of each slot; `rank`: the place of each key among all."""
