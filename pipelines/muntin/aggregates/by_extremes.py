"""The value in the row where something else is least or greatest. Rows with a null `order` are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import AtExtreme, Select
from muntin.aggregates.extremes import some
from muntin.aggregates.listing import Listed
from muntin.aggregates.order import PLACE
from muntin.definition.expressions import Plain, What, expression
from muntin.errors import DefinitionError
from muntin.states.columns import ORDER

if TYPE_CHECKING:
    import pyarrow as pa


def _value(by: pa.Array, time: pa.Array, value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return value


def _list(by: pa.Array, times: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    from muntin.engine.ordered_lists import filled

    return filled(values)


def _values(by: pa.Array, values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(by.is_valid(), values, pa.scalar(None, values.type))


def _one(value: str, order: str, name: str, *, least: bool) -> Field:
    """The first row at the extreme, by event time, then by arrival."""
    extreme, sign = ("min", "") if least else ("max", "-")
    of_by: What = "least" if least else "greatest"
    of_row: What = "at_least" if least else "at_greatest"
    there = f"FILTER (WHERE ({order}) IS NOT NULL)"
    place = f"struct_pack(extreme := {order}, place := {sign}{PLACE})"
    time = f"arg_{extreme}({ORDER}, {place}) {there}"
    lift = Plain(f"arg_{extreme}_null({value}, {place}) {there}", of_row, value, order)
    parts = (
        ("by", Plain(f"{extreme}({order})", of_by, order)),
        ("time", Plain(time, of_row, ORDER, order)),
        ("value", lift),
    )
    monoid = Select(name, by="by", least=least, then="time")
    return Field(name, f"{value}, {order}", parts, monoid, uses_order=True, needs=((order, "order"),))


def _several(value: str, order: str, name: str, n: int, *, least: bool) -> Field:
    """The first `n` rows by the extreme, equal rows by event time, then by arrival."""
    extreme, sign = ("min", "") if least else ("max", "-")
    row = f"struct_pack(extreme := {order}, time := {ORDER}, value := {value})"
    place = f"struct_pack(extreme := {order}, place := {sign}{PLACE})"
    rows = f"arg_{extreme}({row}, {place}, {n}) FILTER (WHERE ({order}) IS NOT NULL)"
    parts = tuple(
        (part, f"coalesce(list_transform({rows}, lambda muntin_row: muntin_row.{member}), [])")
        for part, member in (("by", "extreme"), ("times", "time"), ("values", "value"))
    )
    monoid = Listed(name, by=("by", "times"), falling=() if least else ("by",), limit=n)
    return Field(name, f"{value}, {order}", parts, monoid, uses_order=True, needs=((order, "order"),))


def _all(value: str, order: str, name: str, *, least: bool) -> Field:
    extreme = f"{'min' if least else 'max'}({order})"
    of_by: What = "least" if least else "greatest"
    of_rows: What = "all_at_least" if least else "all_at_greatest"
    rows = f"list(struct_pack(extreme := {order}, value := {value}))"
    held = f"list_filter({rows}, lambda muntin_row: muntin_row.extreme = {extreme})"
    values = f"list_transform({held}, lambda muntin_row: muntin_row.value)"
    lift = Plain(f"coalesce(list_sort(list_distinct({values})), [])", of_rows, value, order)
    parts = (("by", Plain(extreme, of_by, order)), ("values", lift))
    return Field(
        name,
        f"{value}, {order}",
        parts,
        AtExtreme(name, by="by", least=least),
        needs=((order, "order"), (value, "order")),
    )


def min_by(
    value: str,
    order: str,
    *,
    n: int | None = None,
    ties: bool = False,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The `value` of the row with the least `order`, null included, of several such rows the first; with
    `n`, a list for `n` rows; with `ties`, a list for all such rows. Null where every `order` is null.

    Args:
        n: a list of the values of the `n` rows with the least `order`, the least first; of equal rows
            the first to come is first.
        ties: a sorted list of the distinct values of all rows with the least `order`.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999; `n` beside `ties`.
    """
    return _by("min_by", "minby", value, order, n, ties=ties, least=True).only(where, **about)


def max_by(
    value: str,
    order: str,
    *,
    n: int | None = None,
    ties: bool = False,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The `value` of the row with the greatest `order`, null included, of several such rows the first; with
    `n`, a list for `n` rows; with `ties`, a list for all such rows. Null where every `order` is null.

    Args:
        n: a list of the values of the `n` rows with the greatest `order`, the greatest first; of equal rows
            the first to come is first.
        ties: a sorted list of the distinct values of all rows with the greatest `order`.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999; `n` beside `ties`.
    """
    return _by("max_by", "maxby", value, order, n, ties=ties, least=False).only(where, **about)


def _by(name: str, stem: str, value: str, order: str, n: int | None, *, ties: bool, least: bool) -> Aggregate:
    value = expression(value, name)
    order = expression(order, name)
    if ties and n is not None:
        raise DefinitionError(
            f"{name}: n={n} gives the values of {n} rows, ties=True the values of all rows with the "
            f"{'least' if least else 'greatest'} order; leave one of them out"
        )
    if ties:
        field = _all(value, order, f"all{stem}", least=least)
        return Aggregate(name, f"{value}, {order}, ties", (field,), _values)
    if n is None:
        return Aggregate(name, f"{value}, {order}", (_one(value, order, stem, least=least),), _value)
    n = some(n, name, '"x", "y", n=3')
    field = _several(value, order, f"{stem}{n}", n, least=least)
    return Aggregate(name, f"{value}, {order}, n={n}", (field,), _list, gives_lists=True)
