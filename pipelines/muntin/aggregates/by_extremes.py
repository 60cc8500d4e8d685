"""The value in the row where something else is least or greatest. Rows with a null `order` are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import AtExtreme, Select
from muntin.aggregates.order import PLACE
from muntin.definition.expressions import expression
from muntin.states.columns import ORDER

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from muntin.aggregates.aggregate import About


def _value(by: pa.Array, time: pa.Array, value: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return value


def _values(by: pa.Array, values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(by.is_valid(), values, pa.scalar(None, values.type))


def _one(value: str, order: str, name: str, *, least: bool) -> Field:
    """The first row at the extreme, by event time, then by arrival."""
    extreme, sign = ("min", "") if least else ("max", "-")
    there = f"FILTER (WHERE ({order}) IS NOT NULL)"
    place = f"struct_pack(extreme := {order}, place := {sign}{PLACE})"
    time = f"arg_{extreme}({ORDER}, {place}) {there}"
    parts = (("by", f"{extreme}({order})"), ("time", time), ("value", f"arg_{extreme}_null({value}, {place}) {there}"))
    monoid = Select(name, by="by", least=least, then="time")
    return Field(name, f"{value}, {order}", parts, monoid, uses_order=True, needs=((order, "order"),))


def _all(value: str, order: str, name: str, *, least: bool) -> Field:
    extreme = f"{'min' if least else 'max'}({order})"
    rows = f"list(struct_pack(extreme := {order}, value := {value}))"
    values = f"list_transform(list_filter({rows}, lambda muntin_row: muntin_row.extreme = {extreme}), lambda muntin_row: muntin_row.value)"
    parts = (("by", extreme), ("values", f"coalesce(list_sort(list_distinct({values})), [])"))
    return Field(name, f"{value}, {order}", parts, AtExtreme(name, by="by", least=least), needs=((order, "order"), (value, "order")))


def min_by(value: str, order: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The `value` of the row with the least `order`, null included. Of several such rows, the first counts."""
    value, order = expression(value, "min_by"), expression(order, "min_by")
    return Aggregate("min_by", f"{value}, {order}", (_one(value, order, "minby", least=True),), _value).only(where, **about)


def max_by(value: str, order: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The `value` of the row with the greatest `order`, null included. Of several such rows, the first counts."""
    value, order = expression(value, "max_by"), expression(order, "max_by")
    return Aggregate("max_by", f"{value}, {order}", (_one(value, order, "maxby", least=False),), _value).only(where, **about)


def all_min_by(value: str, order: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A list of the distinct `value`s of the rows with the least `order`, sorted, without null; null where every `order` is null."""
    value, order = expression(value, "all_min_by"), expression(order, "all_min_by")
    return Aggregate("all_min_by", f"{value}, {order}", (_all(value, order, "allminby", least=True),), _values).only(where, **about)


def all_max_by(value: str, order: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A list of the distinct `value`s of the rows with the greatest `order`, sorted, without null; null where every `order` is null."""
    value, order = expression(value, "all_max_by"), expression(order, "all_max_by")
    return Aggregate("all_max_by", f"{value}, {order}", (_all(value, order, "allmaxby", least=False),), _values).only(where, **about)
