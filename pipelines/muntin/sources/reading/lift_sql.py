"""Lifts as SQL: what DuckDB fills the columns of states by."""

from __future__ import annotations

from collections.abc import Callable

from muntin.aggregates.aggregate import Field
from muntin.aggregates.lifts import Elements, Expression, Lift, Narrowed, OfElement, OfNothing, PerGroup
from muntin.sources.sessions.aggregate_calls import narrowed
from muntin.states.columns import SOURCE_ROWS

_ONE_ROW = f"SELECT unnest(muntin_row) FROM (SELECT {SOURCE_ROWS} AS muntin_row)"


def lifts_sql(field: Field, transform: Callable[[str], str] = str) -> dict[str, str]:
    """Column -> the SQL aggregate that fills it; of a field with a seal, a column that the seal takes.

    `transform`: as for `lift_sql`.
    """
    return {column: lift_sql(lift, transform) for column, lift in field.lifts.items()}


def facts_of(field: Field) -> str:
    """Everything that the columns of a field depend on, with the lifts as SQL."""
    return field.facts_with(lift_sql)


def lift_sql(lift: Lift, transform: Callable[[str], str] = str) -> str:
    """A lift as a SQL aggregate over the relation `SOURCE_ROWS`. `transform`: what becomes of each aggregate
    that is no query.

    >>> lift_sql(Narrowed("coalesce(sum(x), 0)", "y > 0"))
    'coalesce(sum(x) FILTER (WHERE (y > 0)), 0)'
    """
    match lift:
        case Narrowed(PerGroup() as groups, where):
            return _per_group(groups, f" FILTER (WHERE ({where}))", transform)
        case Narrowed(str(text), where):
            return transform(narrowed(text, where))
        case OfNothing(inner, rows):
            return f"(SELECT {lift_sql(inner, transform)} FROM {rows} AS {SOURCE_ROWS})"
        case PerGroup():
            return _per_group(lift, "", transform)
    return transform(str(lift))


def expression_sql(expression: Expression) -> str:
    """The values that an aggregate needs, as a SQL expression over `SOURCE_ROWS`."""
    if isinstance(expression, OfElement):
        return f"(SELECT ({expression_sql(expression.of)}) FROM ({_elements(expression.elements, _ONE_ROW)}))"
    return expression


def _per_group(groups: PerGroup, only: str, transform: Callable[[str], str]) -> str:
    """The rows of a state grouped once more; `only`: the FILTER of the rows."""
    group, places = groups.group, range(len(groups.lifts))
    rows = f"SELECT unnest(muntin_row) FROM (SELECT unnest(list({SOURCE_ROWS}){only}) AS muntin_row)"
    if groups.elements:
        rows = _elements(groups.elements, rows)
    chosen = "".join(f", {lift_sql(lift, transform)} AS p{at}" for at, lift in enumerate(groups.lifts))
    names = "".join(f", 'p{at}': p{at}" for at in places)
    grouped = (
        f"(SELECT ({group}) AS muntin_group{chosen} FROM ({rows}) AS {SOURCE_ROWS} WHERE ({group}) IS NOT"
        " NULL GROUP BY 1)"
    )
    return f"ARRAY(SELECT {{'group': muntin_group{names}}} FROM {grouped} ORDER BY muntin_group)"


def _elements(elements: Elements, rows: str) -> str:
    """A row for each element, with its place in the lists."""
    columns = elements.columns
    longest = f"greatest({', '.join(f'len({column})' for column in columns)})"
    each = ", ".join(f"unnest({column}) AS {column}" for column in columns)
    return f"SELECT * REPLACE ({each}), unnest(range(1, {longest} + 1)) AS {elements.place} FROM ({rows})"
