"""Values that last, each until the next. A state keeps each (time, value): late rows combine exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Unpack, get_args

from muntin.aggregates.aggregate import About, Aggregate, Carry, Field
from muntin.aggregates.listing import GATHER, Listed
from muntin.definition.durations import Duration, not_negative, spell
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import EVENT_TIME, ORDINAL

if TYPE_CHECKING:
    import pyarrow as pa

Method = Literal["locf", "linear"]


def points(x: str, need: str) -> Field:
    """The times and values of `x` by (event time, arrival)."""
    there = f"FILTER (WHERE ({x}) IS NOT NULL)"
    parts = tuple(
        (name, f"coalesce(list({what} ORDER BY {EVENT_TIME}, {ORDINAL}) {there}, [])")
        for name, what in (("time", EVENT_TIME), ("value", x))
    )
    monoid = Listed("points", by=("time",), known_as=GATHER)
    return Field("points", x, parts, monoid, uses_order=True, needs=((x, need),))


def how_long(name: str, method: object, carry: Duration | None) -> int | None:
    """How old a carried value may be, microseconds; None: nothing is carried."""
    if method not in get_args(Method):
        raise DefinitionError(f'{name}: method={method!r} is not possible; say "locf" or "linear"')
    if carry is not None and method == "linear":
        raise DefinitionError(
            f'{name}: carry={carry!r} lets a value hold until the next one, and method="linear" draws lines '
            "between them; "
            "leave one of them out"
        )
    return None if carry is None else not_negative(carry, f"{name}, carry")


def lasting(name: str, x: str, need: str, carry_us: int, finish: Callable[..., pa.Array]) -> Aggregate:
    """An aggregate of values that last. States are as without carry: to add carry reads no row again."""
    of = f"{x}, carry={spell(carry_us)}"
    return Aggregate(name, of, (points(x, need),), finish, uses_window=True, carry=Carry(carry_us, _newest))


def _steps(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.lasting import integrals_between

    return integrals_between(time, value, linear=False)


def _lines(time: pa.Array, value: pa.Array) -> pa.Array:
    from muntin.engine.lists.lasting import integrals_between

    return integrals_between(time, value, linear=True)


def _newest(time: pa.Array, value: pa.Array) -> tuple[pa.Array, pa.Array]:
    from muntin.engine.lists.lasting import newest_point

    return newest_point(time, value)


def _lasting_integrals(*columns: pa.Array) -> pa.Array:
    from muntin.engine.lists.lasting import held, integrals

    return integrals(held(*columns))


def _lasting_seconds(*columns: pa.Array) -> pa.Array:
    from muntin.engine.lists.lasting import held, seconds

    return seconds(held(*columns))


def integral(
    x: str,
    method: Method = "locf",
    *,
    carry: Duration | None = None,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The sum of `x` times the seconds that it holds, from the window's first event to its last; null where
    every value is null.

    A double, in the unit of `x` times a second: kilowatts give kilowatt-seconds, 3600 of which are a
    kilowatt-hour. With `carry` the last value before the window holds from its start, the last value of the
    window to its end.

    Args:
        x: a number.
        method, carry, where: as for `time_weighted_mean`.

    Raises:
        DefinitionError: as `time_weighted_mean`.
    """
    x = expression(x, "integral")
    carry_us = how_long("integral", method, carry)
    if carry_us is None:
        finish = _lines if method == "linear" else _steps
        return Aggregate(
            "integral", f"{x}, {method}" if method == "linear" else x, (points(x, "number"),), finish
        ).only(where, **about)
    return lasting("integral", x, "number", carry_us, _lasting_integrals).only(where, **about)


def _durations(time: pa.Array, state: pa.Array) -> pa.Array:
    from muntin.engine.lists.neighbours import durations

    return durations(time, state)


def time_in_state(
    state: str, *, carry: Duration | None = None, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """A map from each state of a window to the seconds that it held, sorted by state; null where no state is
    known.

    Without `carry`: from the window's first event to its last. A state holds until the next event; the last
    state of the window counts 0 seconds.

    With `carry`: the last state before the window holds from its start, if it is at most `carry` old then;
    the last state of the window holds to its end. So the seconds of a window are as many as it has, once a
    state is known. A state that is replaced at once is left out.

    Args:
        state: of any type that can be sorted.
        carry: how old a state from before the window may be at the window's start, as "1d". "0s": no state is
            carried, and the last state holds to the end. None: the window has its own events alone.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: a negative `carry`.
    """
    state = expression(state, "time_in_state")
    if carry is None:
        return Aggregate("time_in_state", state, (points(state, "order"),), _durations).only(where, **about)
    carry_us = not_negative(carry, "time_in_state, carry")
    return lasting("time_in_state", state, "order", carry_us, _lasting_seconds).only(where, **about)
