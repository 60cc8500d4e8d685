"""Results of lists: sums, most frequent values and quantiles; how far rows come in a funnel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from muntin.engine.lists.members import in_runs
from muntin.engine.ordered_lists import lengths_of
from muntin.engine.reduce.exact import exact_sums
from muntin.states.frames import Ints


def summed(values: pa.Array) -> pa.Array:
    """The sum of each list, from left to right; null for an empty list. Integers and decimals are exact."""
    flat = values.flatten()
    bounds = np.append(0, np.cumsum(lengths_of(values)))
    if pa.types.is_floating(flat.type):
        numbers = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            sums = pa.array(np.add.reduceat(np.append(numbers, 0.0), bounds[:-1]) if len(values) else numbers)
    else:
        exact = flat.cast(
            pa.decimal128(38, flat.type.scale) if pa.types.is_decimal(flat.type) else pa.int64()
        )
        sums = exact_sums(exact, in_runs(np.arange(len(flat)), bounds, len(flat)))
    return pc.if_else(pa.array(np.diff(bounds) > 0), sums, pa.scalar(None, sums.type))


def most_frequent(values: pa.Array, counts: pa.Array) -> pa.Array:
    """The most frequent value of each sorted list, of equally frequent values the first; null if empty."""
    lengths, often = lengths_of(values), counts.flatten().to_numpy(zero_copy_only=False)
    window = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((-often, window))
    first = pa.array(np.append(order, 0)[np.cumsum(lengths) - lengths], mask=lengths == 0)
    return values.flatten().take(first)


def interpolated(values: pa.Array, counts: pa.Array, q: float) -> pa.Array:
    """The quantile at `q` of each list of sorted doubles with counts, linear between neighbours."""
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


def furthest(times: pa.Array, met: pa.Array, steps: int, within_us: int) -> pa.Array:
    """The number of steps that each list of rows takes one after the other, the last at most `within_us`
    after the first.

    `times`, `met`: parallel lists of rows in order: microseconds, and the steps that a row can take, as bits.
    `steps`: how many there are. `within_us`: from the first to the last, both included.
    """
    bounds = np.append(0, np.cumsum(lengths_of(times)))
    columns: list[Ints] = [each.flatten().to_numpy(zero_copy_only=False) for each in (times, met)]
    return pa.array(_furthest(*columns, bounds, steps, within_us))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _furthest(time, met, bounds, steps, within_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The length of each list's longest way. `begun`: when the latest way of each length began."""
    out, begun = np.zeros(len(bounds) - 1, np.int64), np.empty(steps, np.int64)
    for window in range(len(out)):
        for row in range(bounds[window], bounds[window + 1]):
            for step in range(min(out[window], steps - 1), -1, -1):  # the last step first: a row takes one
                if not met[row] >> step & 1:
                    continue
                if step == 0:
                    begun[0] = time[row]
                elif time[row] - begun[step - 1] <= within_us:
                    begun[step] = begun[step - 1]
                else:
                    continue
                out[window] = max(out[window], step + 1)
    return out
