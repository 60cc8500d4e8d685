"""Counts: of rows, of values, of rows that meet a condition or hold an extreme; and logic over rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import SUM, AtExtreme, Select
from muntin.definition.expressions import EVERY_ROW, Plain, expression
from muntin.definition.parts import Aggregate as AnyAggregate
from muntin.definition.parts import distinct
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    import pyarrow as pa

ROW_COUNT = Field("rows", "", (("", Plain("count(*)", "count", EVERY_ROW)),), SUM)


def _itself(n: pa.Array) -> pa.Array:
    return n


def _holders(value: pa.Array, n: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return n


def present(x: str) -> Field:
    """The number of rows in which `x` is not null."""
    return Field("count", x, (("", Plain(f"count({x})", "count", x)),), SUM)


def count(
    x: str | None = None, *, distinct: bool = False, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """The number of rows; with `x`, of rows in which `x` is not null; with `distinct`, of different values of
    `x`.

    Raises:
        DefinitionError: `distinct` without `x`.
    """
    if distinct:
        if x is None:
            raise DefinitionError(
                'count: distinct=True without an expression; say what differs, as count("carrier", '
                "distinct=True)"
            )
        from muntin.aggregates.distribution import count_distinct

        return count_distinct(x, where=where, **about)
    if x is None:
        return Aggregate("count", "", (ROW_COUNT,), _itself).only(where, **about)
    x = expression(x, "count")
    return Aggregate("count", x, (present(x),), _itself).only(where, **about)


def count_if(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The number of rows for which a SQL condition is true."""
    condition = expression(condition, "count_if")
    lift = Plain(f"count(*) FILTER (WHERE {condition})", "count", f"CASE WHEN ({condition}) THEN 1 END")
    field = Field("countif", condition, (("", lift),), SUM, needs=((condition, "condition"),))
    return Aggregate("count_if", condition, (field,), _itself).only(where, **about)


def _extreme_count(extreme: str, x: str, *, least: bool) -> Aggregate:
    x = expression(x, f"{extreme}_count")
    name = f"{extreme}count"
    parts = (("value", f"{extreme}({x})"), ("n", f"coalesce(histogram({x})[{extreme}({x})], 0)::BIGINT"))
    field = Field(name, x, parts, AtExtreme(name, by="value", least=least), needs=((x, "order"),))
    return Aggregate(f"{extreme}_count", x, (field,), _holders)


def _logic(name: str, call: str, condition: str, *, least: bool) -> Aggregate:
    condition = expression(condition, f"{name}_of")
    parts = (("", Plain(f"{call}({condition})", "value", condition)),)
    field = Field(name, condition, parts, Select(name, by="", least=least))
    return Aggregate(f"{name}_of", condition, (field,), _itself)


def min_count(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The number of rows that hold the least value of `x`; 0 where every value is null."""
    return _extreme_count("min", x, least=True).only(where, **about)


def max_count(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The number of rows that hold the greatest value of `x`; 0 where every value is null."""
    return _extreme_count("max", x, least=False).only(where, **about)


def shared_fields(aggregates: Mapping[str, AnyAggregate]) -> list[Field]:
    """The distinct fields of some aggregates. The number of rows comes first."""
    return distinct(
        [("the number of rows", [ROW_COUNT]), *((each, each.fields) for each in aggregates.values())]
    )


def all_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a condition is true in every row where it is not null; null where it is null in every row."""
    return _logic("all", "bool_and", condition, least=True).only(where, **about)


def any_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a SQL condition is true in at least one row; null where it is null in every row."""
    return _logic("any", "bool_or", condition, least=False).only(where, **about)
