"""Check that each SQL text of a definition is an expression over a row, before DuckDB binds it, for binding
runs statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.grouping import asked_of
from muntin.errors import DefinitionError
from muntin.sources.reading.lift_sql import expression_sql, lifts_sql
from muntin.sources.sessions.single_expressions import check_expression, check_type, is_broken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.aggregates.aggregate import Aggregate
    from muntin.jobs.state.bound import Bound


def check_sql(bound: Bound) -> None:
    """Refuse SQL that could do more than read a row; the error names the part of the definition."""
    for column, kind in bound.source.types.items():
        check_type(kind, f"types[{column!r}]")
    for name, aggregate in bound.aggregates.items():
        _check_aggregate(aggregate, f"aggregates[{name!r}]")
    for what, sql in _expressions(bound):
        check_expression(sql, what)


def _check_aggregate(aggregate: Aggregate, what: str) -> None:
    """Refuse an aggregate by what its user wrote, not by the SQL that is made of it."""
    try:
        for field in aggregate.fields:
            for sql in (*lifts_sql(field).values(), *(expression_sql(each) for each, _ in asked_of(field))):
                check_expression(sql, what, str(aggregate))
    except DefinitionError:
        for sql in (aggregate.of, *(field.where for field in aggregate.fields)):
            if sql and is_broken(sql):
                check_expression(sql, what)
        raise


def _expressions(bound: Bound) -> Iterator[tuple[str, str]]:
    """The name and the SQL of each expression."""
    if where := bound.pipeline.filter:
        yield "where", where
    for name, window in bound.windows.items():
        if window.having is not None:
            yield f"windows[{name!r}], having", window.having
        # as the user wrote it
        own = [
            getattr(policy, part, "") for policy in getattr(window, "policies", ()) for part in ("of", "at")
        ]
        for sql in (
            *filter(None, own),
            *(sql for sql, _ in window.made_of.needs),
            *window.made_of.lifts.values(),
        ):
            yield f"windows[{name!r}]", sql
    for name, sql in bound.pipeline.derived.items():
        yield f"aggregates[{name!r}]", sql
