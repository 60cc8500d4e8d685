"""Aggregates over the time between events. A state keeps each (time, value) but nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.lasting import Method, how_long, lasting, points
from muntin.aggregates.listing import GATHER, Listed
from muntin.definition.durations import Duration, not_negative
from muntin.definition.expressions import expression
from muntin.definition.instants import AFTER_ALL
from muntin.states.columns import EVENT_TIME

if TYPE_CHECKING:
    import pyarrow as pa

TIMES = Field(
    name="times",
    of="",
    parts=(("", f"coalesce(list({EVENT_TIME} ORDER BY {EVENT_TIME}), [])"),),
    monoid=Listed("times", by=("",), ordered=False, known_as=GATHER),
)


def _held(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import time_weighted

    return time_weighted(time, value, linear=False)


def _joined(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import time_weighted

    return time_weighted(time, value, linear=True)


def _to_the_end(*columns: pa.Array) -> pa.Array:
    from muntin.engine.lists.lasting import held, means

    return means(held(*columns))


def _rate(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import counter_rates

    return counter_rates(time, value)


def _increase(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import counter_increases

    return counter_increases(time, value, None, AFTER_ALL)


def _silence(times: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import longest_silences

    return longest_silences(times)


def time_weighted_mean(
    x: str,
    method: Method = "locf",
    *,
    carry: Duration | None = None,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The mean of `x` over the time from the window's first event to its last, as a double; null where every
    value is null.

    If all events are at the same time, the result is the last value. With `carry` the mean is over the time
    in which a value is known: the last value before the window holds from its start, the last value of the
    window to its end.

    Args:
        x: a number.
        method: `x` between two events: "locf" keeps the earlier value, "linear" draws a straight line.
        carry: how old a value from before the window may be at the window's start, as "1d". None: the window
            has its own events alone.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: `method` is another word; a line is to be drawn to a value from before the window; a
            negative `carry`.
    """
    x = expression(x, "time_weighted_mean")
    carry_us = how_long("time_weighted_mean", method, carry)
    if carry_us is None:
        return Aggregate(
            "time_weighted_mean", x, (points(x, "number"),), _joined if method == "linear" else _held
        ).only(where, **about)
    return lasting("time_weighted_mean", x, "number", carry_us, _to_the_end).only(where, **about)


def counter_rate(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """How much a counter rose per second from the window's first event to its last, as a double.

    A fall is a reset to 0, as in `rate` of Prometheus. Unlike Prometheus, nothing is extrapolated to the
    borders of the window. Null where all events are at the same time.
    """
    x = expression(x, "counter_rate")
    return Aggregate("counter_rate", x, (points(x, "number"),), _rate).only(where, **about)


def counter_increase(
    x: str, *, carry: Duration | None = None, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """How much a counter rose; null where every value is null. A fall is a reset to 0. Exact of integers and
    decimals.

    Without `carry`: from the window's first event to its last. With `carry` from the last value before the
    window, so that the increases of parts add up to the increase of the whole: the minutes of an hour to the
    hour. Two values more than `carry` apart are not compared.

    Args:
        x: a number.
        carry: how far apart two values may be, as "1d". None: the window has its own events alone.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: a negative `carry`.
    """
    x = expression(x, "counter_increase")
    if carry is None:
        return Aggregate("counter_increase", x, (points(x, "number"),), _increase).only(where, **about)
    carry_us = not_negative(carry, "counter_increase, carry")

    def finished(*columns: pa.Array) -> pa.Array:
        from muntin.engine.lists.neighbours import counter_increases

        time, value, _, _, before_time, before_value = columns
        return counter_increases(time, value, (before_time, before_value), carry_us)

    return lasting("counter_increase", x, "number", carry_us, finished).only(where, **about)


def longest_silence(*, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The longest time between neighbouring events, in seconds as a double; null below two events."""
    return Aggregate("longest_silence", "", (TIMES,), _silence).only(where, **about)
