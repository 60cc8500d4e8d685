"""The expressions of a definition that are computed for each row, and SQL that tells for which rows they
cannot be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muntin.aggregates.lifts import Narrowed, PerGroup
from muntin.sources.sessions.aggregate_calls import aggregate_calls, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.aggregates.lifts import Lift

_WRITTEN = "SELECT json_deserialize_sql(?::JSON)"


@dataclass(frozen=True, slots=True)
class RowExpression:
    """A SQL expression over a row.

    Attributes:
        sql: the expression.
        where: conditions; the expression is computed for the rows for which all are true.
    """

    sql: str
    where: tuple[str, ...] = ()

    @property
    def fails(self) -> str:
        """SQL condition: the expression cannot be computed for a row.

        To compute a hash takes the value, and is never null.
        """
        once = f"hash({self.sql})"
        for each in reversed(self.where):  # AND would compute all
            once = f"CASE WHEN ({each}) THEN {once} ELSE 0 END"
        return f"(TRY({once}) IS NULL)"


def row_expressions(lift: Lift, where: tuple[str, ...] = ()) -> Iterator[RowExpression]:
    """The expressions that a lift computes for each row, conditions first. Expressions for elements of lists
    are left out.

    >>> [each.sql for each in row_expressions("sum(x::INT) FILTER (WHERE y / 2 > 0)")]
    ['((y / 2) > 0)', 'CAST(x AS INTEGER)']
    """
    match lift:
        case Narrowed(inner, condition):
            yield RowExpression(condition, where)
            yield from row_expressions(inner, (*where, condition))
        case PerGroup(group, lifts, None):
            yield RowExpression(group, where)
            for each in lifts:
                yield from row_expressions(each, (*where, f"({group}) IS NOT NULL"))
        case str(text):
            for sql, conditions in _in_calls(text):
                yield RowExpression(sql, (*where, *conditions))


@lru_cache(1000)
def _in_calls(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The expressions in the aggregate calls of a text, each with the call's condition."""
    expressions = list[tuple[str, tuple[str, ...]]]()
    for call in aggregate_calls(parsed(text), into_queries=False):
        only = (as_sql(call["filter"]),) if call.get("filter") else ()
        expressions += [(each, ()) for each in only]
        expressions += [
            (as_sql(each), only)
            for each in expressions_of(call)
            if each["class"] not in ("COLUMN_REF", "CONSTANT", "STAR")
        ]
    return tuple(dict.fromkeys(expressions))


def expressions_of(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of a call, and what it is ordered by."""
    for each in call.get("arguments") or call.get("children") or ():
        yield each.get("expression", each)
    for each in call.get("order_bys", {}).get("orders", ()):
        yield each["expression"]


def as_sql(tree: dict[str, Any]) -> str:
    """The SQL of a part of a parsed text."""
    from muntin.sources.sessions.duckdb_session import any_session

    statements = parsed("1")
    statements[0]["node"]["select_list"] = [tree]
    [(text,)] = (
        any_session().execute(_WRITTEN, [json.dumps({"error": False, "statements": statements})]).fetchall()
    )
    return text.removeprefix("SELECT ")  # type: ignore[no-any-return]
