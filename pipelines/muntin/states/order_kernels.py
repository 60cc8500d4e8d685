"""Loops that bring many rows into order by counting, not comparing; and hashes of texts for buckets."""

from __future__ import annotations

import numpy as np

from muntin.states.frames import compiled

_DIGIT = 13  # bits: as many places to write to as the processor's nearest memory holds
_ALL = 2**_DIGIT


@compiled
def counted_order(numbers, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The stable order of numbers from 0 on and below `size`: counting sort."""
    place = _first_places(numbers, size)
    order = np.empty(len(numbers), np.int64)
    for row in range(len(numbers)):
        order[place[numbers[row]]] = row
        place[numbers[row]] += 1
    return order


@compiled
def _first_places(numbers, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The place of the first row of each number in the stable order."""
    place = np.zeros(size + 1, np.int64)
    for number in numbers:
        place[number + 1] += 1
    for number in range(size):
        place[number + 1] += place[number]
    return place


@compiled
def digits_order(numbers, bits):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The stable order of numbers of so many bits, none below 0: radix sort, the lowest digit first."""
    order = np.arange(len(numbers))
    others = np.empty(len(numbers), np.int64)
    moved = numbers.copy(), np.empty(len(numbers), np.int64)
    for turn, shift in enumerate(range(0, bits, _DIGIT)):
        _by_digit(moved[turn % 2], order, shift, moved[1 - turn % 2], others)
        order, others = others, order
    return order


@compiled
def _by_digit(numbers, order, shift, numbers_out, order_out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Numbers and their rows, stable by one digit. Numbers move along, since finding them takes longer."""
    place = np.zeros(_ALL, np.int64)
    for row in range(len(numbers)):
        place[(numbers[row] >> shift) & (_ALL - 1)] += 1
    before = 0
    for digit in range(_ALL):
        place[digit], before = before, before + place[digit]
    for row in range(len(numbers)):
        number = numbers[row]
        digit = (number >> shift) & (_ALL - 1)
        to = place[digit]
        place[digit] = to + 1
        numbers_out[to] = number
        order_out[to] = order[row]


@compiled
def counted_places(numbers, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The place of each row in the order of `counted_order`; there are fewer than 2^31."""
    next_place = _first_places(numbers, size)
    places = np.empty(len(numbers), np.int32)
    for row in range(len(numbers)):
        places[row] = next_place[numbers[row]]
        next_place[numbers[row]] += 1
    return places


@compiled
def scattered(values, places, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Put the values in their places: to write to a few places in turn is faster than to read from them."""
    for row in range(len(values)):
        out[places[row]] = values[row]


@compiled
def gathered(values, order):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The values in this order."""
    out = np.empty(len(order), values.dtype)
    for place in range(len(order)):
        out[place] = values[order[place]]
    return out


@compiled
def fnv1a(bounds, data):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """FNV-1a, 64 bits (Fowler, Noll, Vo), of each text."""
    out = np.empty(len(bounds) - 1, np.uint64)
    for row in range(len(out)):
        value = np.uint64(0xCBF29CE484222325)
        for at in range(bounds[row], bounds[row + 1]):
            value = (value ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        out[row] = value
    return out
