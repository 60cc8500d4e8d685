"""Expressions that a definition computes for each row, to separate rows for which they
fail from other rows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from muntin.sources.sessions.duckdb_session import described
from muntin.sources.sessions.row_expressions import RowExpression, row_expressions
from muntin.states.columns import SOURCE_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.jobs.state.bound import Bound


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that cannot be computed for some rows.

    Attributes:
        reason: what, in words.
        column: the column that it is about; None: the definition is.
        condition: SQL that is true for the rows.
    """

    reason: str
    column: str | None
    condition: str


def row_faults(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str) -> list[Fault]:
    """The expressions of a definition that may fail for a row. DuckDB cannot try a query inside of an
    expression: queries are left out.

    `rows`: a relation with the columns that lifts read.
    """
    faults = dict[str, Fault]()
    for what, each in _expressions(bound):
        if each.fails not in faults and _binds(session, each.fails, rows):
            faults[each.fails] = Fault(f"{what}: {each.sql} cannot be computed", None, each.fails)
    return list(faults.values())


def first_fault(faults: Sequence[Fault]) -> str:
    """SQL for the number of the first fault of a row, null without any."""
    return (
        "CASE "
        + " ".join(f"WHEN {each.condition} THEN {number}" for number, each in enumerate(faults))
        + " END"
        if faults
        else "NULL"
    )


def _expressions(bound: Bound) -> Iterator[tuple[str, RowExpression]]:
    """The name and the SQL of each expression of a row.

    Only the filter is computed for rows that it leaves out.
    """
    conditions: tuple[str, ...] = ()
    if where := bound.pipeline.filter:
        conditions = (where,)
        yield "where", RowExpression(where)
    for name, aggregate in bound.own_aggregates.items():
        for field in aggregate.fields:
            for lift in field.lifts.values():
                yield from ((f"aggregates[{name!r}]", each) for each in row_expressions(lift, conditions))
    for frames in bound.frame_sets:
        for lift in frames.lifts.values():
            yield from (
                (f"windows[{frames.windows[0]!r}]", each) for each in row_expressions(lift, conditions)
            )


def _binds(session: duckdb.DuckDBPyConnection, condition: str, rows: str) -> bool:
    with suppress(duckdb.Error):
        return bool(described(session, f"SELECT {condition} FROM {rows} AS {SOURCE_ROWS}"))
    return False
