"""Collections of a window's values: lists, joined texts, maps. States keep every value that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.distribution import counts_of
from muntin.aggregates.listing import NEWEST, Listed, checked_limit, items
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import ORDER

if TYPE_CHECKING:
    import pyarrow as pa


def collect(
    x: str,
    limit: int | None = None,
    *,
    distinct: bool = False,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """A list of the values of `x` in the order of event time, then arrival; empty where every value is null.

    Nulls are left out.

    Args:
        x: SQL expression, of any type.
        limit: the greatest length of the list; the first values stay. States keep no more values, except with
            `distinct`.
        distinct: each value once, at its first place.
        where: SQL condition that rows must meet.
    """
    x = expression(x, "collect")
    limit = checked_limit("collect", limit)
    most = None if distinct else limit
    parts = (
        ("times", items(ORDER, f"({x}) IS NOT NULL", most)),
        ("values", items(f"({x})", f"({x}) IS NOT NULL", most)),
    )
    field = Field(
        f"collect{most or ''}", x, parts, Listed("collect", by=("times",), limit=most), uses_order=True
    )
    said = f"{'DISTINCT ' if distinct else ''}{x}{f', {limit}' if limit else ''}"
    return Aggregate(
        "collect", said, (field,), _first_ones(limit) if distinct else _values, gives_lists=True
    ).only(where, **about)


def _values(times: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return values


def _first_ones(limit: int | None) -> Callable[..., pa.Array]:
    def once(times: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
        from muntin.engine import ordered_lists as lists

        return lists.once(values, limit)

    return once


def collect_sorted(
    x: str,
    by: str | None = None,
    descending: bool = False,  # noqa: FBT001, FBT002 - the contract
    *,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """A sorted list of the values of `x`. Equal values are sorted by event time, then arrival. Nulls of `x`
    are left out.

    Args:
        x: SQL expression.
        by: SQL expression that sorts instead of `x`. Its nulls come last in both directions.
        descending: the greatest value first. A NaN is greater than any number.
        where: SQL condition that rows must meet.
    """
    x = expression(x, "collect_sorted")
    by = expression(by, "collect_sorted") if by is not None else x
    there = f"({x}) IS NOT NULL"
    parts = (
        ("by", items(f"({by})", there)),
        ("times", items(ORDER, there)),
        ("values", items(f"({x})", there)),
    )
    name, said = ("sorteddown", f"{x}, {by}, descending") if descending else ("sorted", f"{x}, {by}")
    monoid = Listed(name, by=("by", "times"), falling=("by",) if descending else ())
    field = Field(name, f"{x}, {by}", parts, monoid, uses_order=True, needs=((by, "order"),))
    return Aggregate("collect_sorted", said, (field,), _last_part, gives_lists=True).only(where, **about)


def _last_part(*parts: pa.Array) -> pa.Array:
    return parts[-1]


def collect_distinct(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A list of the distinct values of `x`, ascending; nulls are left out."""
    x = expression(x, "collect_distinct")
    return Aggregate("collect_distinct", x, (counts_of(x),), _kinds, gives_lists=True).only(where, **about)


def _kinds(values: pa.Array, counts: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    return values


def concat(
    x: str, separator: str = ", ", *, distinct: bool = False, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """A text: the values of `x` joined in the order of event time, then arrival; null where every value is
    null.

    Args:
        x: SQL expression, of any type that can be text.
        separator: between two values.
        distinct: each text once, at its first place.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: the separator is not a text.
    """
    x = expression(x, "concat")
    if not isinstance(separator, str):
        raise DefinitionError(
            f'concat: separator {separator!r} is not a text; give one, as concat("carrier", ", "), or "" for '
            "none"
        )
    text = f"({x})::VARCHAR"
    parts = (("times", items(ORDER, f"({x}) IS NOT NULL")), ("values", items(text, f"({x}) IS NOT NULL")))
    field = Field("concat", x, parts, Listed("concat", by=("times",)), uses_order=True)
    said = f"{'DISTINCT ' if distinct else ''}{x}, {separator!r}"
    return Aggregate("concat", said, (field,), _between(separator, distinct=distinct)).only(where, **about)


def _between(separator: str, *, distinct: bool) -> Callable[..., pa.Array]:
    def joined(times: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
        import pyarrow as pa
        import pyarrow.compute as pc

        from muntin.engine import ordered_lists as lists

        texts = lists.once(values, None) if distinct else values
        some = pc.greater(texts.value_lengths(), 0)
        return pc.if_else(some, pc.binary_join(texts, separator), pa.scalar(None, pa.string()))

    return joined


def to_map(key: str, value: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A map from `key` to `value`, sorted by key. Of several rows with a key, the last by event time, then
    arrival, counts.

    Rows with a null key are left out. A value may be null.
    """
    key = expression(key, "to_map")
    value = expression(value, "to_map")
    there = f"({key}) IS NOT NULL"
    parts = (
        ("keys", items(f"({key})", there)),
        ("times", items(ORDER, there)),
        ("values", items(f"({value})", there)),
    )
    field = Field("map", f"{key}, {value}", parts, NEWEST, uses_order=True, needs=((key, "order"),))
    return Aggregate("to_map", f"{key}, {value}", (field,), _mapped).only(where, **about)


def _mapped(keys: pa.Array, times: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    from muntin.engine.ordered_lists import mapped

    return mapped(keys, values)
