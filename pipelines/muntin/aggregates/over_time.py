"""Aggregates over the time between events. A state keeps every (time, value), so that states of late rows combine
exactly. Rows with a null value are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.parts.listing import GATHER, Listed
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import EVENT_TIME, ORDINAL

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from muntin.aggregates.aggregate import About

Method = Literal["locf", "linear"]

TIMES = Field(
    name="times",
    of="",
    parts=(("", f"coalesce(list({EVENT_TIME} ORDER BY {EVENT_TIME}), [])"),),
    monoid=Listed("times", by=("",), ordered=False, known_as=GATHER),
)


def points(x: str, need: str) -> Field:
    """The times and values of `x` by (event time, arrival)."""
    there = f"FILTER (WHERE ({x}) IS NOT NULL)"
    parts = tuple(
        (name, f"coalesce(list({what} ORDER BY {EVENT_TIME}, {ORDINAL}) {there}, [])")
        for name, what in (("time", EVENT_TIME), ("value", x))
    )
    monoid = Listed("points", by=("time",), known_as=GATHER)
    return Field("points", x, parts, monoid, uses_order=True, needs=((x, need),))


def _held(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import time_weighted

    return time_weighted(time, value, linear=False)


def _joined(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import time_weighted

    return time_weighted(time, value, linear=True)


def _rate(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import counter_rates

    return counter_rates(time, value)


def _durations(time: pa.Array, state: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import durations

    return durations(time, state)


def _silence(times: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import longest_silences

    return longest_silences(times)


def time_weighted_mean(x: str, method: Method = "locf", *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The mean of `x` over the time from the window's first event to its last, as a double; null where every value is null.

    If all events are at the same time, the result is the last value.

    Args:
        x: a number.
        method: `x` between two events: "locf" keeps the earlier value, "linear" draws a straight line.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: `method` is another word.
    """
    x = expression(x, "time_weighted_mean")
    if method not in get_args(Method):
        raise DefinitionError(f'time_weighted_mean: method={method!r} is not possible; say "locf" or "linear"')
    return Aggregate("time_weighted_mean", x, (points(x, "number"),), _joined if method == "linear" else _held).only(where, **about)


def counter_rate(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """How much a counter rose per second from the window's first event to its last, as a double.

    A fall is a reset to 0, as in `rate` of Prometheus. Unlike Prometheus, nothing is extrapolated to the borders of the
    window. Null where all events are at the same time.
    """
    x = expression(x, "counter_rate")
    return Aggregate("counter_rate", x, (points(x, "number"),), _rate).only(where, **about)


def state_duration(state: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A map from each state of the window to the seconds it lasted, sorted by state; null where every state is null.

    A state lasts until the next event. The last state of the window has no known end, and counts 0 seconds.
    """
    state = expression(state, "state_duration")
    return Aggregate("state_duration", state, (points(state, "order"),), _durations).only(where, **about)


def longest_silence(*, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The longest time between neighbouring events of the window, in seconds as a double; null for fewer than two."""
    return Aggregate("longest_silence", "", (TIMES,), _silence).only(where, **about)
