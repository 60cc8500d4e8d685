"""First and last by (event time, arrival), by arrival in arrival windows: the value of the row, null
included; candlesticks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Carry, Field
from muntin.aggregates.algebra import Select
from muntin.aggregates.extremes import greatest, least, some
from muntin.aggregates.listing import GATHER, Listed
from muntin.aggregates.sums import quotient, weighted
from muntin.definition.durations import Duration, not_negative, spell
from muntin.definition.expressions import Plain, What, expression
from muntin.errors import DefinitionError
from muntin.states.columns import ORDER, ORDINAL

if TYPE_CHECKING:
    import pyarrow as pa

# Event time and position in the batch in one number: DuckDB compares it far faster than a struct of the two.
PLACE = f"({ORDER}::HUGEINT * 1152921504606846976 + {ORDINAL})"

_FIRST = Select("first", by="time", least=True)
_LAST = Select("last", by="time", least=False, newest=True)


def _value(time: pa.Array, value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return value


def _list(time: pa.Array, value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    from muntin.engine.ordered_lists import filled

    return filled(value)


def first(
    x: str,
    *,
    n: int | None = None,
    ignore_nulls: bool = False,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The value of `x` in the earliest row, of rows at one time the first to arrive; with `n`, a list of the
    values of the `n` earliest rows, the earliest first. Null where there is no row.

    Args:
        n: how many rows; nulls are items of the list.
        ignore_nulls: rows with a null do not count.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999.
    """
    x = expression(x, "first")
    if n is not None:
        several = _rows(x, some(n, "first"), newest=False, ignore_nulls=ignore_nulls)
        return several.only(where, **about)
    if ignore_nulls:
        return Aggregate("first", f"{x}, ignore_nulls", (earliest(x),), _value).only(where, **about)
    parts = (
        ("time", Plain(f"min({ORDER})", "least", ORDER)),
        ("value", Plain(f"arg_min_null({x}, {PLACE})", "first_row", x)),
    )
    return Aggregate("first", x, (Field("first", x, parts, _FIRST, uses_order=True),), _value).only(
        where, **about
    )


def last(
    x: str,
    *,
    n: int | None = None,
    ignore_nulls: bool = False,
    carry: Duration | None = None,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The value of `x` in the latest row, of rows at one time the last to arrive; with `n`, a list of the
    values of the `n` latest rows, the latest last. Null where there is no row.

    Args:
        n: how many rows; nulls are items of the list.
        ignore_nulls: rows with a null do not count.
        carry: as "1d": a window without a value has the last value before it, if that is at most so old when
            the window begins; rows with a null do not count then.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999; a negative `carry`; `n` beside `carry`.
    """
    x = expression(x, "last")
    if n is not None and carry is not None:
        raise DefinitionError(
            f"last: carry={carry!r} gives a value to an empty window, n={n} a list of its own rows; "
            "leave one of them out"
        )
    if n is not None:
        several = _rows(x, some(n, "last"), newest=True, ignore_nulls=ignore_nulls)
        return several.only(where, **about)
    if carry is not None:
        carry_us = not_negative(carry, "last, carry")
        return Aggregate(
            "last", f"{x}, carry={spell(carry_us)}", (latest(x),), _lasting, carry=Carry(carry_us, _both)
        ).only(where, **about)
    if ignore_nulls:
        return Aggregate("last", f"{x}, ignore_nulls", (latest(x),), _value).only(where, **about)
    parts = (
        ("time", Plain(f"max({ORDER})", "greatest", ORDER)),
        ("value", Plain(f"arg_max_null({x}, {PLACE})", "last_row", x)),
    )
    return Aggregate("last", x, (Field("last", x, parts, _LAST, uses_order=True),), _value).only(
        where, **about
    )


def _both(time: pa.Array, value: pa.Array) -> tuple[pa.Array, pa.Array]:
    return time, value


def _lasting(time: pa.Array, value: pa.Array, before_time: pa.Array, before_value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    from muntin.engine.lists.lasting import last_or_before

    return last_or_before(value, before_value)


def earliest(x: str) -> Field:
    """The first value of `x` that is not null."""
    return _not_null("earliest", "min", "least", "first", x, _FIRST)


def latest(x: str) -> Field:
    """The last value of `x` that is not null."""
    return _not_null("latest", "max", "greatest", "last", x, _LAST)


def _not_null(name: str, end: str, of_time: What, of_value: What, x: str, monoid: Select) -> Field:
    of_row = f"CASE WHEN ({x}) IS NOT NULL THEN {ORDER} END"
    time = Plain(f"{end}({ORDER}) FILTER (WHERE ({x}) IS NOT NULL)", of_time, of_row)
    parts = (("time", time), ("value", Plain(f"arg_{end}({x}, {PLACE})", of_value, x)))
    return Field(name, x, parts, monoid, uses_order=True)


def any_value(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A value of `x` that is not null, the same in every run: the first."""
    x = expression(x, "any_value")
    return Aggregate("any_value", x, (earliest(x),), _value).only(where, **about)


def _rows(x: str, n: int, *, newest: bool, ignore_nulls: bool) -> Aggregate:
    """The list of the values of the `n` rows at one end of time, the earliest first."""
    name, end, turned = ("last", "max", "list_reverse") if newest else ("first", "min", "")
    rows = f"arg_{end}(struct_pack(value := {x}), {PLACE}, {n})"
    value = f"list_transform({rows}, lambda muntin_row: muntin_row.value)"
    lists = (("time", f"{end}({ORDER}, {n})"), ("value", value))
    parts = tuple((part, f"coalesce({f'{turned}({sql})' if turned else sql}, [])") for part, sql in lists)
    monoid = Listed(f"{name}_k", by=("time",), limit=n, newest=newest, known_as=GATHER)
    field = Field(f"{name}{n}", x, parts, monoid, uses_order=True)
    several = Aggregate(name, f"{x}, n={n}", (field,), _list, gives_lists=True)
    return several.only(f"({x}) IS NOT NULL") if ignore_nulls else several


def _candle(
    opened: pa.Array,  # noqa: ARG001 - finish gets every part
    first: pa.Array,
    closed: pa.Array,  # noqa: ARG001 - finish gets every part
    last: pa.Array,
    low: pa.Array,
    high: pa.Array,
    paid: pa.Array,
    volume: pa.Array,
) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {"open": first, "high": high, "low": low, "close": last, "vwap": quotient(paid, volume)}
    return pa.StructArray.from_arrays(list(columns.values()), list(columns), mask=pc.is_null(first))


def candlestick(price: str, volume: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A struct of open, high, low, close (of the price's type) and vwap, the mean price weighted by volume (a
    double).

    Null where every price is null. Only vwap is null where the sum of the volumes is 0.
    """
    price = expression(price, "candlestick")
    volume = expression(volume, "candlestick")
    fields = (earliest(price), latest(price), least(price), greatest(price), weighted(price, volume))
    return Aggregate("candlestick", f"{price}, {volume}", fields, _candle).only(where, **about)
