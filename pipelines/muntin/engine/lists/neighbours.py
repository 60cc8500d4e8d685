"""Times between neighbouring events. Lists of times are sorted, in microseconds; results are seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.reduce.select import sort_keys
from muntin.errors import SourceError
from muntin.states.frames import Ints, compiled

_SPLIT = 2.0**27 + 1
_LARGE, _SMALLER = 2.0**900, 2.0**-100  # times a length, a large value would leave the doubles' range


def means_over(window: Ints, level: Doubles, length: Ints, spans: Ints) -> Doubles:
    """The mean of each window's values, weighted by how long they hold; 0 without values.

    `window`, `level`, `length`: the window of each value, ascending; the value; how long it holds,
    microseconds. `spans`: over which time each window's mean is, microseconds; 0 without values.
    """
    means: Doubles = _means(window, level, length, spans)
    return means


@compiled
def _product(a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """A product of two doubles, and what it lacks."""
    total = a * b
    over = _SPLIT * a
    a_high = over - (over - a)
    over = _SPLIT * b
    b_high = over - (over - b)
    a_low, b_low = a - a_high, b - b_high
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def _means(window, level, length, spans):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out = np.zeros(len(spans))
    begin = 0
    while begin < len(window):
        end, most, odd = begin, 0.0, 0.0
        while end < len(window) and window[end] == window[begin]:
            if np.isfinite(level[end]):
                most = max(most, abs(level[end]))
            else:
                odd += level[end]
            end += 1
        by = _SMALLER if most >= _LARGE else 1.0
        total, rest = 0.0, 0.0
        for at in range(begin, end):
            area, lacks = _product(level[at] * by, float(length[at]))
            new = total + area
            back = new - total
            total, rest = new, rest + (((total - (new - back)) + (area - back)) + lacks)
        span = float(spans[window[begin]])
        near = (total + rest) / span
        back, lacks = _product(near, span)
        mean = near + (((total - back) - lacks) + rest) / span
        out[window[begin]] = mean / by if odd == 0.0 else odd
        begin = end
    return out


Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]

_SECOND = 1e6
_DIGITS = 38  # the most that a decimal of 128 bits has


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Events of windows, one list a window, laid end to end.

    Attributes:
        times: of all events.
        counts, first, last: of each window, the number of its events and the places of its first and last
            event; 0 without events.
        window, left: pairs of neighbours: their window, and the place of the earlier event; the later event
            has the next place.
    """

    times: Ints
    counts: Ints
    first: Ints
    last: Ints
    window: Ints
    left: Ints

    @property
    def lengths(self) -> Ints:
        """The time from the earlier neighbour to the later neighbour."""
        return self.times[self.left + 1] - self.times[self.left]

    @property
    def spans(self) -> Ints:
        """The time from each window's first event to its last; 0 without events."""
        if not len(self.times):
            return np.zeros(len(self.counts), np.int64)
        return np.where(self.counts > 0, self.times[self.last] - self.times[self.first], 0)


def neighbours(times: pa.Array) -> Neighbours:
    """The neighbours in lists of times, one list a window; a null is an empty list."""
    counts = times.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum(counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    left = np.flatnonzero(owner[1:] == owner[:-1])
    some = counts > 0
    flat = times.flatten().to_numpy(zero_copy_only=False)
    return Neighbours(
        flat, counts, np.where(some, ends - counts, 0), np.where(some, ends - 1, 0), owner[left], left
    )


def doubles(values: pa.Array) -> Doubles:
    """The items of lists of numbers, end to end."""
    return values.flatten().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def time_weighted(times: pa.Array, values: pa.Array, *, linear: bool) -> pa.Array:
    """The mean of each window's values over time. A value holds until the next event, or straight lines join
    values (`linear`).

    Where all events are at one time, it is the value of the last.
    """
    near, level = neighbours(times), doubles(values)
    if not len(level):
        return pa.nulls(len(near.counts), pa.float64())
    lengths, spans = near.lengths, near.spans
    apart = lengths > 0
    window, left, lengths = near.window[apart], near.left[apart], lengths[apart]
    height = level[left]
    if linear:
        window, lengths = window.repeat(2), lengths.repeat(2)
        height = 0.5 * np.column_stack((height, level[left + 1])).ravel()
    means = np.where(spans > 0, means_over(window, height, lengths, spans), level[near.last])
    return pa.array(means, mask=near.counts == 0)


def counter_rates(times: pa.Array, values: pa.Array) -> pa.Array:
    """The increase per second of each window's counter, first to last event; a fall is a reset to 0."""
    near = neighbours(times)
    with np.errstate(all="ignore"):
        rises = _rises(values.flatten(), near.left)
        rates = np.bincount(near.window, rises, len(near.counts)) / (near.spans / _SECOND)
    return pa.array(rates, mask=near.spans == 0)


def _rises(values: pa.Array, left: Ints) -> Doubles:
    """The rise from values to the next values, as doubles; to a lower value it is the rise from 0."""
    now, before = values.take(pa.array(left + 1)), values.take(pa.array(left))
    return _risen(now, before).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _risen(now: pa.Array, before: pa.Array) -> pa.Array:
    """Whole numbers and decimals are subtracted exactly: as doubles, large numbers would lose their last
    digits. Whole numbers give int64 where each rise, and the sum of all, surely fits; else decimals.
    """
    is_whole = pa.types.is_integer(now.type)
    is_exact = is_whole or pa.types.is_decimal(now.type)
    wide = pa.decimal256(_DIGITS + 1, getattr(now.type, "scale", 0)) if is_exact else pa.float64()
    if is_whole:
        ends = [end for part in (now, before) for end in pc.min_max(part).as_py().values() if end is not None]
        if max(map(abs, ends), default=0) * 2 * len(now) < 2**63:
            wide = pa.int64()
    now, before = (each.cast(wide, safe=is_exact) for each in (now, before))
    return pc.if_else(pc.less(now, before), now, pc.subtract(now, before).cast(wide))


def counter_increases(
    times: pa.Array, values: pa.Array, before: tuple[pa.Array, pa.Array] | None, most_us: int
) -> pa.Array:
    """How much each window's counter rose from value to value, a fall is a reset to 0; null without a value.

    `before`: time and value of the last event before each window, which count as its first. `most_us`: values
    further apart are not compared, inside a window as across its start: increases of parts add up.
    Integers give int64, decimals a decimal of 38 digits, both exact; floats give doubles.
    """
    near, items = neighbours(times), values.flatten()
    window, apart = near.window, near.lengths
    earlier, later = items.take(pa.array(near.left)), items.take(pa.array(near.left + 1))
    if before is not None:
        at, value = before
        carried = np.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False) & (near.counts > 0))
        rows, first = pa.array(carried), near.first[carried]
        window = np.append(window, carried)
        apart = np.append(apart, near.times[first] - at.take(rows).to_numpy(zero_copy_only=False))
        earlier = pa.concat_arrays([earlier, value.take(rows)])
        later = pa.concat_arrays([later, items.take(pa.array(first))])
    close = pa.array(np.flatnonzero(apart <= most_us))
    rises = _risen(later.take(close), earlier.take(close))
    none = pa.nulls(len(near.counts), rises.type).fill_null(pa.scalar(0).cast(rises.type))
    owner = pa.concat_arrays([pa.array(window).take(close), pa.array(np.arange(len(none)))])
    every = pa.concat_arrays([rises, none])
    sums = pa.table({"window": owner, "rise": every}).group_by("window").aggregate([("rise", "sum")])
    sums = sums.sort_by("window")["rise_sum"].combine_chunks()
    kind = pa.decimal128(_DIGITS, items.type.scale) if pa.types.is_decimal(items.type) else pa.int64()
    try:
        exact = sums if pa.types.is_floating(sums.type) else sums.cast(kind)
    except pa.ArrowInvalid as wrong:
        raise SourceError(
            f'an increase does not fit {kind}; count a DOUBLE instead, as agg.counter_increase("x::DOUBLE")'
        ) from wrong
    return pc.if_else(pa.array(near.counts > 0), exact, pa.scalar(None, exact.type))


def longest_silences(times: pa.Array) -> pa.Array:
    """The longest time between neighbouring events of each window, in seconds; null below two events."""
    near = neighbours(times)
    longest = np.zeros(len(near.counts), np.int64)
    np.maximum.at(longest, near.window, near.lengths)
    return pa.array(longest / _SECOND, mask=near.counts < 2)  # noqa: PLR2004 - a silence has two ends


def durations(times: pa.Array, states: pa.Array) -> pa.Array:
    """For each window a sorted map from state to seconds; the last state holds 0 seconds."""
    near, held = neighbours(times), states.flatten()
    length = np.zeros(len(held), np.int64)
    length[near.left] = near.lengths
    return durations_of(held, np.repeat(np.arange(len(near.counts)), near.counts), length, near.counts == 0)


def durations_of(held: pa.Array, owner: Ints, length: Ints, without: np.ndarray) -> pa.Array:
    """For each window a map from state to seconds, sorted by state.

    `held`, `owner`, `length`: states, the window of each, ascending, and how long it holds, microseconds.
    `without`: whether each window has no map.
    """
    if pa.types.is_floating(held.type):
        held = pa.array(held.to_numpy(zero_copy_only=False) + 0.0, held.type)  # both zeros are one state
    ranks = sort_keys(held)
    order = np.lexsort((ranks, owner))
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(owner[order]) != 0) | (np.diff(ranks[order]) != 0)
    heads = np.flatnonzero(begins)
    seconds = np.add.reduceat(length[order], heads) / _SECOND if len(heads) else np.zeros(0)
    offsets = np.searchsorted(owner[order][heads], np.arange(len(without) + 1))
    absent = pa.array(offsets, pa.int32(), mask=np.append(without, False))
    return pa.MapArray.from_arrays(absent, held.take(pa.array(order[heads])), pa.array(seconds))
