"""Results of lists of distinct sorted values and of their counts: sums, most frequent values, quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.lists.members import in_runs
from muntin.engine.ordered_lists import lengths_of
from muntin.engine.reduce.exact import exact_sums

if TYPE_CHECKING:
    from muntin.states.frames import Ints


def summed(values: pa.Array) -> pa.Array:
    """The sum of each list, from left to right; null for an empty list. Integers and decimals are exact.

    Raises:
        SourceError: a sum does not fit the values' type.
    """
    flat = values.flatten()
    bounds = np.append(0, np.cumsum(lengths_of(values)))
    if pa.types.is_floating(flat.type):
        numbers = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            sums = pa.array(np.add.reduceat(np.append(numbers, 0.0), bounds[:-1]) if len(values) else numbers)
    else:
        exact = flat.cast(pa.decimal128(38, flat.type.scale) if pa.types.is_decimal(flat.type) else pa.int64())
        sums = exact_sums(exact, in_runs(np.arange(len(flat)), bounds, len(flat)))
    return pc.if_else(pa.array(np.diff(bounds) > 0), sums, pa.scalar(None, sums.type))


def most_frequent(values: pa.Array, counts: pa.Array) -> pa.Array:
    """For each list of sorted values the most frequent value; of equally frequent values the first. Null for an empty list."""
    lengths, often = lengths_of(values), counts.flatten().to_numpy(zero_copy_only=False)
    window = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((-often, window))
    return _picked(values.flatten(), np.append(order, 0)[np.cumsum(lengths) - lengths], lengths == 0)


def _picked(values: pa.Array, at: Ints, missing: np.ndarray) -> pa.Array:
    return values.take(pa.array(at, mask=missing))


def interpolated(values: pa.Array, counts: pa.Array, q: float) -> pa.Array:
    """For each list of sorted doubles with counts the quantile at `q`, linear between neighbours; null for an empty list."""
    lengths, often = lengths_of(values), counts.flatten().to_numpy(zero_copy_only=False)
    begins, running = np.cumsum(lengths) - lengths, np.append(0, np.cumsum(often))
    before = running[begins]
    total = running[begins + lengths] - before
    place = (total - 1) * q  # among the values, each as often as counted
    below = np.floor(place).astype(np.int64)
    flat = np.append(values.flatten().to_numpy(zero_copy_only=False), np.nan)
    low, high = (
        flat[np.minimum(np.searchsorted(running[1:], before + step, side="right"), len(flat) - 1)]
        for step in (below, np.minimum(below + 1, total - 1))
    )
    share = place - below
    with np.errstate(invalid="ignore"):
        between = np.where((share == 0) | (low == high), low, low * (1 - share) + high * share)
    return pa.array(between, mask=total == 0)
