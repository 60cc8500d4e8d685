"""Counts: of rows, of values, of rows that meet a condition or hold an extreme; and logic over rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import SUM, AtExtreme, Select
from muntin.aggregates.distribution import count_distinct
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


def _extreme_count(x: str, name: str, *, least: bool) -> Field:
    extreme = f"{'min' if least else 'max'}({x})"
    parts = (("value", extreme), ("n", f"coalesce(histogram({x})[{extreme}], 0)::BIGINT"))
    return Field(name, x, parts, AtExtreme(name, by="value", least=least), needs=((x, "order"),))


def min_count(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The number of rows that hold the least value of `x`; 0 where every value is null."""
    x = expression(x, "min_count")
    return Aggregate("min_count", x, (_extreme_count(x, "mincount", least=True),), _holders).only(
        where, **about
    )


def max_count(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The number of rows that hold the greatest value of `x`; 0 where every value is null."""
    x = expression(x, "max_count")
    return Aggregate("max_count", x, (_extreme_count(x, "maxcount", least=False),), _holders).only(
        where, **about
    )


def shared_fields(aggregates: Mapping[str, AnyAggregate]) -> list[Field]:
    """The distinct fields of some aggregates. The number of rows comes first."""
    return distinct(
        [("the number of rows", [ROW_COUNT]), *((each, each.fields) for each in aggregates.values())]
    )


def all_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a condition is true in every row where it is not null; null where it is null in every row."""
    condition = expression(condition, "all_of")
    field = Field(
        "all",
        condition,
        (("", Plain(f"bool_and({condition})", "value", condition)),),
        Select("all", by="", least=True),
    )
    return Aggregate("all_of", condition, (field,), _itself).only(where, **about)


def any_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a SQL condition is true in at least one row; null where it is null in every row."""
    condition = expression(condition, "any_of")
    field = Field(
        "any",
        condition,
        (("", Plain(f"bool_or({condition})", "value", condition)),),
        Select("any", by="", least=False),
    )
    return Aggregate("any_of", condition, (field,), _itself).only(where, **about)
