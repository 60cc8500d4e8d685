"""Oracles of aggregates out of others: over fewer rows, once for each group, once for each place of lists."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from muntin.testing.oracle.aggregates import nan_greatest
from muntin.testing.oracle.time import Row

Of = Callable[[Row], Any]
Oracle = Callable[[Sequence[Row]], Any]


def size(of: Of) -> Of:
    """The value without its sign."""
    return lambda row: None if of(row) is None else abs(of(row))


def parity(of: Of) -> Of:
    """`of % 2` in SQL, which keeps the sign; null of null."""
    return lambda row: None if of(row) is None else int(math.fmod(of(row), 2))


def above(of: Of, bound: float) -> Of:
    """`of > bound` in SQL, for which a NaN is greater than any number; null of null."""
    return greater(of, lambda _: bound)


def greater(of: Of, other: Of) -> Of:
    """`of > other` in SQL."""

    def holds(row: Row) -> bool | None:
        one, two = of(row), other(row)
        return None if one is None or two is None else nan_greatest(one) > nan_greatest(two)

    return holds


def whether(quantifier: Callable[[Sequence[bool]], bool], condition: Of) -> Oracle:
    """`all` or `any` of a condition where it is not null; null where it always is."""

    def found(rows: Sequence[Row]) -> bool | None:
        known = [value for value in map(condition, rows) if value is not None]
        return quantifier(known) if known else None

    return found


def only(condition: Of, inner: Oracle) -> Oracle:
    """Over the rows for which a condition is true."""
    return lambda rows: inner([row for row in rows if condition(row)])


def each_once(of: Of, inner: Oracle) -> Oracle:
    """Over the first row of each value that is not null."""

    def found(rows: Sequence[Row]) -> Any:
        first: dict[Any, Row] = {}
        for row in rows:
            first.setdefault(one_nan(of(row)), row)
        return inner([row for value, row in first.items() if value is not None])

    return found


def how_many(of: Of) -> Oracle:
    """Different values that are not null."""
    return lambda rows: len({one_nan(of(row)) for row in rows} - {None})


def one_nan(value: Any) -> Any:
    """Every NaN is one value."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def finite(of: Of) -> Oracle:
    """The sorted finite values."""
    return lambda rows: sorted(float(value) for value in map(of, rows) if value is not None and math.isfinite(value))


def grouped(of: Of, inner: Oracle) -> Oracle:
    """(group, result) for each group that is not null, sorted."""
    return lambda rows: [(each, only(lambda row: of(row) == each, inner)(rows)) for each in sorted({of(row) for row in rows} - {None})]  # noqa: B023


def placewise(inner: Oracle, *lists: str) -> Oracle:
    """A result for each place of the longest list, over the elements there; a list that is shorter than its neighbour has nulls."""

    def found(rows: Sequence[Row]) -> list[Any]:
        filled = [{**row, **{name: row[name] or [] for name in lists}} for row in rows]
        return [inner(placed(filled, lists, at)) for at in range(max((longest(row, lists) for row in filled), default=0))]

    return found


def placed(rows: Sequence[Row], lists: Sequence[str], at: int) -> list[Row]:
    """The rows that have a place, with the element there instead of each list."""
    there = [row for row in rows if at < longest(row, lists)]
    return [{**row, **{name: row[name][at] if at < len(row[name]) else None for name in lists}} for row in there]


def longest(row: Row, lists: Sequence[str]) -> int:
    return max(len(row[name]) for name in lists)


def of_columns(function: Callable[..., Any], *of: Of) -> Oracle:
    """A function of whole columns, nulls included."""
    return lambda rows: function(*([each(row) for row in rows] for each in of))
