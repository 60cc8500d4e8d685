"""The key dictionary: the distinct keys so far, and a number for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.frames import Ints

_BITS = 20
MOST_VALUES = 2**_BITS
"""A key column may have fewer, so that three places fit one number."""
MOST_LOOKED_UP = 2**17
"""So many values that no table has are looked up: they are hashed anew for each batch of rows."""
_WIDEST = 2**20  # of a table of places


@dataclass(slots=True)
class DistinctValues:
    """The distinct values of a column so far, `values`, by first occurrence.

    `table`: the places among them of whole numbers that lie near each other, from `least` on; -1 where a
    value did not occur.
    """

    values: pa.Array
    least: int = 0
    table: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def places(self, column: pa.Array) -> Ints:
        """The place of each row's value; new values are appended in the order in which they come."""
        from muntin.states.slot_kernels import tabulated_places

        if not self._has_room_for(column):
            return self._looked_up(column)
        value, place = column.to_numpy(), np.empty(len(column), np.int64)
        new = np.empty_like(value)
        if count := tabulated_places(value, self.least, self.table, len(self.values), place, new):
            self.values = pa.concat_arrays([self.values, pa.array(new[:count])])
        return place

    def _has_room_for(self, column: pa.Array) -> bool:
        """Whether the table has a place for each value of a column, or is widened to have it."""
        if column.null_count or not pa.types.is_integer(column.type) or not len(column):
            return False
        ends = pc.min_max(column).as_py()
        return (self.least <= ends["min"] and ends["max"] < self.least + len(self.table)) or self._tabulate(
            ends["min"], ends["max"]
        )

    @property
    def are_too_many(self) -> bool:
        """Whether the values are more than can be numbered, or more than are worth numbering."""
        return len(self.values) >= (MOST_VALUES if len(self.table) else MOST_LOOKED_UP)

    def _looked_up(self, column: pa.Array) -> Ints:
        places = pc.index_in(column, value_set=self.values)
        if places.null_count:
            new = column.filter(pc.is_null(places)).unique()
            self.values, self.table = pa.concat_arrays([self.values, new]), self.table[:0]
            places = pc.index_in(column, value_set=self.values)
        return places.to_numpy().astype(np.int64)

    def _tabulate(self, least: int, most: int) -> bool:
        """Lay the places of all values into a table over `least` and `most`; False if it would be
        too wide.
        """
        values = self.values.drop_null()
        if len(values):
            ends = pc.min_max(values).as_py()
            least, most = min(least, ends["min"]), max(most, ends["max"])
        if most - least >= _WIDEST:
            return False
        self.least, self.table = least, np.full(most - least + 1, -1)
        self.table[values.to_numpy().astype(np.int64) - least] = np.flatnonzero(
            self.values.is_valid().to_numpy(zero_copy_only=False)
        )
        return True


@dataclass(slots=True)
class KeyDictionary:
    """The distinct keys so far. `parts`: each key column's values; `codes`: places of each key's values."""

    parts: list[DistinctValues]
    codes: DistinctValues = field(default_factory=lambda: DistinctValues(pa.array([], pa.int64())))

    def numbers(self, columns: Sequence[pa.Array], rows: int) -> Ints | None:
        """The number of each row's key, from 0, by first occurrence; None where there are too many."""
        places = [part.places(column) for part, column in zip(self.parts, columns, strict=True)]
        code: Ints = (
            reduce(lambda code, place: (code << _BITS) | place, places)
            if places
            else np.zeros(rows, np.int64)
        )
        number = code if len(self.parts) == 1 else self.codes.places(pa.array(code))
        return None if any(each.are_too_many for each in (*self.parts, self.codes)) else number

    def __len__(self) -> int:
        return len(self.parts[0].values) if len(self.parts) == 1 else len(self.codes.values)

    @property
    def columns(self) -> list[pa.Array]:
        """The key columns, a row a key."""
        if len(self.parts) == 1:
            return [self.parts[0].values]
        code = self.codes.values.to_numpy()
        shifts = range(_BITS * (len(self.parts) - 1), -1, -_BITS)
        return [
            part.values.take(pa.array((code >> shift) & (MOST_VALUES - 1)))
            for part, shift in zip(self.parts, shifts, strict=True)
        ]
