"""Behaviour of users: how far they come in a funnel, whether they come back, how often they are active."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.counting import count_if
from muntin.aggregates.distribution import counts_of
from muntin.aggregates.listing import Listed
from muntin.definition.durations import Duration, not_negative, positive, spell
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import EVENT_TIME, ORDINAL

if TYPE_CHECKING:
    import pyarrow as pa

_MOST = 32  # conditions, as in ClickHouse


def funnel(*steps: str, within: Duration, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """How many of the steps were taken in their order, the last of them at most `within` after the first; 0
    if no row takes the first step.

    A step is a SQL condition that a row meets. Rows go by event time, then by arrival; other rows may lie
    between, and a row takes one step. Of all ways through the rows, the way that comes furthest counts.

    Args:
        steps: conditions in order, as "kind = 'visit'", "kind = 'cart'", "kind = 'order'".
        within: how long after the first step the last may be, as "1h".
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: no step, more than 32, or a negative duration.
    """
    steps = _conditions("funnel", steps, 1)
    within_us = not_negative(within, "within")
    met = " + ".join(f"CASE WHEN ({step}) THEN {1 << at} ELSE 0 END" for at, step in enumerate(steps))
    there = f"FILTER (WHERE ({met}) > 0)"
    parts = tuple(
        (name, f"coalesce(list(({what})::BIGINT ORDER BY {EVENT_TIME}, {ORDINAL}) {there}, [])")
        for name, what in (("time", EVENT_TIME), ("met", met))
    )
    needs = tuple((step, "condition") for step in steps)
    field = Field(
        "steps", ", ".join(steps), parts, Listed("steps", by=("time",)), uses_order=True, needs=needs
    )
    said = f"{', '.join(steps)}, within {spell(within_us)}"
    return Aggregate("funnel", said, (field,), _furthest(len(steps), within_us)).only(where, **about)


def _furthest(steps: int, within_us: int) -> Callable[..., pa.Array]:
    def found(time: pa.Array, met: pa.Array) -> pa.Array:
        from muntin.engine.lists.groups import furthest

        return furthest(time, met, steps, within_us)

    return found


def retention(*conditions: str, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A list of booleans, one for each condition. The first is true if a row meets the first condition; each
    further boolean is true if, besides, a row meets its own condition.

    The rows need not be the same, nor in an order: retention("day = 1", "day = 2", "day = 7") of the rows of
    a user.

    Raises:
        DefinitionError: fewer than two conditions, or more than 32.
    """
    conditions = _conditions("retention", conditions, 2)
    fields = tuple(field for each in conditions for field in count_if(each).fields)
    return Aggregate("retention", ", ".join(conditions), fields, _kept).only(where, **about)


def _kept(*counts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    met = np.column_stack([count.to_numpy() > 0 for count in counts])
    met &= met[:, :1]
    return pa.ListArray.from_arrays(
        pa.array(np.arange(len(met) + 1, dtype=np.int32) * len(counts)), pa.array(met.ravel())
    )


def _conditions(name: str, conditions: tuple[str, ...], least: int) -> tuple[str, ...]:
    if not least <= len(conditions) <= _MOST:
        like = f"{name}(\"kind = 'visit'\", \"kind = 'order'\")"
        raise DefinitionError(
            f"{name}: {len(conditions)} conditions are not possible; give {least} to {_MOST}, as {like}"
        )
    return tuple(expression(each, name) for each in conditions)


def active_periods(period: Duration = "1d", *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """In how many periods, as in how many days, there is a row. Periods have one length and lie side by side
    from 1970 on, in UTC; the event time of a row says its period.

    Raises:
        DefinitionError: a length that is not positive.
    """
    us = positive(period, "period")
    number = f"({EVENT_TIME} - (({EVENT_TIME} % {us} + {us}) % {us})) // {us}"
    return Aggregate("active_periods", spell(us), (counts_of(number),), _periods).only(where, **about)


def _periods(numbers: pa.Array, counts: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    import pyarrow as pa

    return numbers.value_lengths().cast(pa.int64())
