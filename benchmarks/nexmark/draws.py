"""The numbers and texts that Java's generator draws for an event, one seed an event: `java.util.Random` in numba.

The linear congruential generator of Knuth's "The Art of Computer Programming", volume 2, section 3.2.1, as Java documents it:
https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/Random.html. A generator is an array with its one state.
"""

import numpy as np
from numba import njit

_STATE = np.int64(2**48 - 1)
_FACTOR, _MORE = np.int64(0x5DEECE66D), np.int64(0xB)
_A, _SPACE, _LETTERS = np.int64(ord("a")), np.int64(ord(" ")), np.int64(26)
_LEAST_LENGTH, _SPACE_IN = 3, 13


@njit(cache=True)
def seed(random, number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """Begin with another seed."""
    random[0] = (np.int64(number) ^ _FACTOR) & _STATE


@njit(cache=True)
def bits(random, count):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """The next bits, as a whole number from 0."""
    random[0] = (random[0] * _FACTOR + _MORE) & _STATE
    return random[0] >> np.int64(48 - count)


@njit(cache=True)
def below(random, bound):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """A whole number from 0 up to, not including, a bound of 31 bits."""
    drawn = bits(random, 31)
    if bound & (bound - 1) == 0:
        return (bound * drawn) >> np.int64(31)
    rest = drawn % bound
    while drawn - rest + bound - 1 >= 2**31:  # where Java's int overflows: the last, shorter stretch
        drawn = bits(random, 31)
        rest = drawn % bound
    return rest


@njit(cache=True)
def price(random):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """A price in cents: up to a million, each power of ten as likely."""
    high = bits(random, 26)
    part = np.float64((high << np.int64(27)) + bits(random, 27)) * 2.0**-53
    return np.int64(np.floor(10.0 ** (part * 6.0) * 100.0 + 0.5))


@njit(cache=True)
def words(random, most, text, at):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """Write letters and blanks, of which those at both ends are left out; the place behind them. `most`: one more than the longest."""
    begin = at
    for _ in range(_LEAST_LENGTH + below(random, most - _LEAST_LENGTH)):
        letter = _SPACE if below(random, _SPACE_IN) == 0 else _A + below(random, _LETTERS)
        if letter != _SPACE or at > begin:
            text[at] = letter
            at += 1
    while at > begin and text[at - 1] == _SPACE:
        at -= 1
    return at


@njit(cache=True)
def padding(random, size, average, text, at):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - compiled
    """Write what makes an event of a size in bytes as long as events are on average; the place behind it."""
    if size > average:
        return at
    left = average - size
    delta = np.int64(np.floor(left * 0.2 + 0.5))
    length = left - delta + (below(random, 2 * delta) if delta else 0)
    drawn = np.int64(0)
    for place in range(length):
        if place % 6 == 0:
            drawn = bits(random, 32)
            drawn = drawn - 2**32 if drawn >= 2**31 else drawn
        whole = drawn // _LETTERS if drawn >= 0 else -(-drawn // _LETTERS)  # towards 0, as Java divides
        text[at] = _A + drawn - whole * _LETTERS
        drawn = whole
        at += 1
    return at
