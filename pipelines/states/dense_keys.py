"""The keys that were met so far, and a number for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.states.frames import Ints

_BITS = 20
MOST_VALUES = 2**_BITS
"""A key column may have fewer, so that three places fit one number."""
_WIDEST = 2**16  # a table of so many places lies in the processor's cache


@dataclass(slots=True)
class MetValues:
    """The values of a column that were met, `known`, in the order of their first meeting.

    `table`: the places among them of whole numbers that lie near each other, from `least` on; -1 where one was not met.
    """

    known: pa.Array
    least: int = 0
    table: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def places(self, column: pa.Array) -> Ints:
        """The place of each row's value among the known ones; new ones are put behind them, by first meeting."""
        from pipelines.states.dense_kernels import find_places

        if len(self.table) and not column.null_count:
            places = np.empty(len(column), np.int64)
            if find_places(column.to_numpy(), self.least, self.table, places):
                return places
        return self._looked_up(column)

    def _looked_up(self, column: pa.Array) -> Ints:
        places = pc.index_in(column, value_set=self.known)
        if places.null_count:
            new = column.filter(pc.is_null(places)).unique()
            self.known = pa.concat_arrays([self.known, new])
            self._tabulate()
            places = pc.index_in(column, value_set=self.known)
        return places.to_numpy().astype(np.int64)

    def _tabulate(self) -> None:
        """Lay the places of all known values into a table, where these are whole numbers that lie near each other."""
        if not pa.types.is_integer(self.known.type) or self.known.null_count == len(self.known):
            return
        ends = pc.min_max(self.known).as_py()
        size = ends["max"] - ends["min"] + 1
        self.least, self.table = ends["min"], np.full(size if size <= _WIDEST else 0, -1)
        if len(self.table):
            places = np.flatnonzero(self.known.is_valid().to_numpy(zero_copy_only=False))
            self.table[self.known.drop_null().to_numpy().astype(np.int64) - self.least] = places


@dataclass(slots=True)
class MetKeys:
    """The keys that were met. `parts`: of each key column its values; `codes`: of each key the places of its values, as one number."""

    parts: list[MetValues]
    codes: MetValues = field(default_factory=lambda: MetValues(pa.array([], pa.int64())))

    def numbers(self, columns: Sequence[pa.Array], rows: int) -> Ints:
        """The number of each row's key, from 0, by first meeting."""
        if len(columns) == 1:
            return self.parts[0].places(columns[0])
        code: Ints = np.zeros(rows, np.int64)
        for part, column in zip(self.parts, columns, strict=True):
            code = (code << _BITS) | part.places(column)
        return self.codes.places(pa.array(code))

    def __len__(self) -> int:
        return len(self.parts[0].known) if len(self.parts) == 1 else len(self.codes.known)

    @property
    def most_values(self) -> int:
        """How many values the key column has that has most."""
        return max((len(part.known) for part in self.parts), default=0)

    @property
    def columns(self) -> list[pa.Array]:
        """The key columns, a row a key."""
        if len(self.parts) == 1:
            return [self.parts[0].known]
        code = self.codes.known.to_numpy()
        shifts = range(_BITS * (len(self.parts) - 1), -1, -_BITS)
        return [part.known.take(pa.array((code >> shift) & (MOST_VALUES - 1))) for part, shift in zip(self.parts, shifts, strict=True)]
