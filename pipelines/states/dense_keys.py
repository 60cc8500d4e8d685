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


@dataclass(slots=True)
class MetKeys:
    """The keys that were met. `parts`: of each key column its values; `codes`: of each key the places of its values, as one number."""

    parts: list[pa.Array]
    codes: pa.Array = field(default_factory=lambda: pa.array([], pa.int64()))

    def numbers(self, columns: Sequence[pa.Array], rows: int) -> Ints:
        """The number of each row's key, from 0, by first meeting."""
        if len(columns) == 1:
            self.parts[0], places = _places(self.parts[0], columns[0])
            return places
        code: Ints = np.zeros(rows, np.int64)
        for at, column in enumerate(columns):
            self.parts[at], places = _places(self.parts[at], column)
            code = (code << _BITS) | places
        self.codes, numbers = _places(self.codes, pa.array(code))
        return numbers

    def __len__(self) -> int:
        return len(self.parts[0]) if len(self.parts) == 1 else len(self.codes)

    @property
    def columns(self) -> list[pa.Array]:
        """The key columns, a row a key."""
        if len(self.parts) == 1:
            return self.parts
        code = self.codes.to_numpy()
        shifts = range(_BITS * (len(self.parts) - 1), -1, -_BITS)
        return [part.take(pa.array((code >> shift) & (MOST_VALUES - 1))) for part, shift in zip(self.parts, shifts, strict=True)]


def _places(known: pa.Array, column: pa.Array) -> tuple[pa.Array, Ints]:
    """The known values and new ones of a column behind them, and the place of each row's value among them."""
    places = pc.index_in(column, value_set=known)
    if places.null_count:
        new = column.filter(pc.is_null(places)).unique()
        known = pa.concat_arrays([known, new])
        places = pc.index_in(column, value_set=known)
    return known, places.to_numpy().astype(np.int64)
