"""Values that hold until the next value, the last value to the end of the window.

event           x--------y----            x = 10 at 9:50, y = 31 at 10:20
window              [         )           10:00 to 11:00: 10 for 20 minutes, then 31 for 40

Lists of times are sorted, in microseconds. Results in time are seconds, as doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.engine.lists.neighbours import Doubles, durations_of, means_over, neighbours
from muntin.engine.ordered_lists import lengths_of
from muntin.states.frames import Ints

_SECOND = 1e6


@dataclass(frozen=True, slots=True)
class Held:
    """The values that hold in windows for some time, laid end to end.

    Attributes:
        window: of each value, ascending.
        length: how long it holds, microseconds; never 0.
        value: the values.
        count: of windows.
    """

    window: Ints
    length: Ints
    value: pa.Array
    count: int

    @property
    def without(self) -> np.ndarray:
        """The windows in which no value holds."""
        return np.bincount(self.window, minlength=self.count) == 0

    def doubles(self) -> Doubles:
        """The values as numbers."""
        return self.value.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def held(
    times: pa.Array,
    values: pa.Array,
    start: pa.Array,
    end: pa.Array,
    before_time: pa.Array,
    before_value: pa.Array,
) -> Held:
    """The values of windows, each until the next, the last to the end of its window; the value before a
    window from its start.

    `times`, `values`: lists of events, one list a window; a null is an empty list. `start`, `end`: of the
    windows. `before_time`, `before_value`: the last event before each window; null without any.
    """
    counts, begin, until = lengths_of(times), _us(start), _us(end)
    first = np.cumsum(counts) - counts
    carried = np.flatnonzero(before_time.is_valid().to_numpy(zero_copy_only=False))
    flat, items = times.flatten().to_numpy(zero_copy_only=False), values.flatten()
    at = np.insert(flat, first[carried], begin[carried])
    place = np.insert(np.arange(len(flat)), first[carried], len(flat) + carried)
    counts[carried] += 1
    window = np.repeat(np.arange(len(counts)), counts)
    behind = np.append(at[1:], 0)[: len(at)]
    some = counts > 0
    behind[np.cumsum(counts)[some] - 1] = until[some]
    lasting = np.flatnonzero(behind > at)
    value = pa.concat_arrays([items, before_value]).take(pa.array(place[lasting]))
    return Held(window[lasting], (behind - at)[lasting], value, len(counts))


def _us(instants: pa.Array) -> Ints:
    return instants.view(pa.int64()).to_numpy(zero_copy_only=False)


def means(held: Held) -> pa.Array:
    """The mean of each window's values over the time that they hold."""
    spans = np.zeros(held.count, np.int64)
    np.add.at(spans, held.window, held.length)
    return pa.array(
        means_over(held.window, held.doubles(), held.length, spans), pa.float64(), mask=held.without
    )


def integrals(held: Held) -> pa.Array:
    """The sum of each window's values times the seconds that they hold."""
    with np.errstate(all="ignore"):
        sums = np.bincount(held.window, held.doubles() * (held.length / _SECOND), held.count)
    return pa.array(sums, pa.float64(), mask=held.without)


def integrals_between(times: pa.Array, values: pa.Array, *, linear: bool) -> pa.Array:
    """The integral of each window's values from first to last event; `linear`: straight lines between."""
    near = neighbours(times)
    level = values.flatten().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    apart = near.lengths > 0
    left, window = near.left[apart], near.window[apart]
    with np.errstate(all="ignore"):
        height = 0.5 * level[left] + 0.5 * level[left + 1] if linear else level[left]
        sums = np.bincount(window, height * (near.lengths[apart] / _SECOND), len(near.counts))
    return pa.array(sums, pa.float64(), mask=near.counts == 0)


def seconds(held: Held) -> pa.Array:
    """For each window a map from value to the seconds that it holds, sorted; null without values."""
    return durations_of(held.value, held.window, held.length, held.without)


def newest_point(times: pa.Array, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The last time and the last value of each state's lists; null where they are empty."""
    counts = lengths_of(times)
    last = pa.array(np.cumsum(counts) - 1, mask=counts == 0)
    return times.flatten().take(last), values.flatten().take(last)


def last_or_before(value: pa.Array, before: pa.Array) -> pa.Array:
    """The last value of each window, or where there is none the value before it."""
    own, rows = value.is_valid().to_numpy(zero_copy_only=False), np.arange(len(value))
    return pa.concat_arrays([value, before]).take(pa.array(np.where(own, rows, len(value) + rows)))
