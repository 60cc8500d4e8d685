"""Steps that rows of windows take one after the other within a time: how far they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numba import njit

from muntin.engine.ordered_lists import lengths_of

if TYPE_CHECKING:
    from muntin.states.frames import Ints


def furthest(times: pa.Array, met: pa.Array, steps: int, within_us: int) -> pa.Array:
    """The number of steps that each list of rows takes one after the other, the last at most `within_us` after the first.

    Args:
        times, met: parallel lists of rows in order: microseconds, and the steps that a row can take, as bits.
        steps: how many there are.
        within_us: from the first to the last, both included.
    """
    bounds = np.append(0, np.cumsum(lengths_of(times)))
    columns: list[Ints] = [each.flatten().to_numpy(zero_copy_only=False) for each in (times, met)]
    return pa.array(_furthest(*columns, bounds, steps, within_us))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _furthest(time, met, bounds, steps, within_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """For each list the length of its longest way. `begun`: when the latest way of each length began, of those that may go on."""
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
