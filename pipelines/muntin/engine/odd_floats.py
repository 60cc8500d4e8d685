"""Floats that compare as equal but differ in their bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.states.keys import contiguous

if TYPE_CHECKING:
    from collections.abc import Iterable


def odd_floats(states: pa.Table, columns: Iterable[str]) -> np.ndarray:
    """Whether each row has -0.0 or NaN in one of these columns: the least of 0.0 and -0.0 is the first, and depends on the order."""
    odd = np.zeros(len(states), np.bool_)
    for name in columns:
        if pa.types.is_floating(states.schema.field(name).type):
            values = contiguous(states[name].cast(pa.float64())).fill_null(1.0).to_numpy(zero_copy_only=False)
            odd |= np.isnan(values) | ((values == 0) & np.signbit(values))
    return odd
