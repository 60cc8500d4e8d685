"""The expressions of a definition that are computed for each row: SQL that tells for which rows they cannot
be, and aggregate calls that compute nothing for the rows which a FILTER leaves out.

DuckDB computes the arguments of a call for all rows, and all conditions of an AND:

    sum(v::INTEGER) FILTER (WHERE kind = 'number')          fails where v is a text and kind another
    sum(CASE WHEN kind = 'number' THEN v::INTEGER END) FILTER (WHERE kind = 'number')
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from muntin.aggregates.lifts import Lift, Narrowed, PerGroup
from muntin.sources.sessions.aggregate_calls import aggregate_calls, asked, nodes_of, parsed, syntax_of

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
    statements = parsed("1")
    statements[0]["node"]["select_list"] = [tree]
    (text,) = asked(_WRITTEN, json.dumps({"error": False, "statements": statements}))
    return text.removeprefix("SELECT ")  # type: ignore[no-any-return]


Tree = dict[str, Any]
_SURE = ("COLUMN_REF", "CONSTANT", "STAR")
_OURS = "muntin_"


@lru_cache(1000)
def guarded(lift: str) -> str:
    """A lift that computes nothing for the rows that its calls leave out; the text itself where nothing can
    fail for them.

    >>> guarded("sum(x) FILTER (WHERE y)"), guarded("sum(x / 2) FILTER (WHERE y)")
    ('sum(x) FILTER (WHERE y)', 'sum(CASE  WHEN (y) THEN ((x / 2)) ELSE NULL END) FILTER (WHERE y)')
    """
    if "filter" not in lift.lower():
        return lift
    tree, changed = parsed(lift), False
    for call in aggregate_calls(tree, into_queries=False):
        if only := call.get("filter"):
            changed |= _in_order(only)
            for each in filter(_may_fail, expressions_of(call)):
                _become(each, _case("NULL", only, dict(each)))
                changed = True
    return as_sql(tree[0]["node"]["select_list"][0]) if changed else lift


def _in_order(condition: Tree) -> bool:
    """Let each condition of an AND be computed where the earlier ones are true; whether that is needed."""
    parts = condition["children"] if condition["type"] == "CONJUNCTION_AND" else [condition]
    if not any(map(_may_fail, parts[1:])):
        return False
    expression = parts[-1]
    for each in reversed(parts[:-1]):
        expression = _case("false", each, expression)
    _become(condition, expression)
    return True


def _become(node: Tree, other: Tree) -> None:
    node.clear()
    node.update(other)


def _case(otherwise: str, condition: Tree, value: Tree) -> Tree:
    """A value where a condition is true."""
    tree: Tree = parsed(f"CASE WHEN true THEN 1 ELSE {otherwise} END")[0]["node"]["select_list"][0]
    tree["case_checks"][0] |= {"when_expr": condition, "then_expr": value}
    return tree


def _may_fail(node: Tree) -> bool:
    """Whether an expression computes something of the columns of a source."""
    return node["class"] not in _SURE and any(
        each.get("class") == "COLUMN_REF" and not each["column_names"][-1].startswith(_OURS)
        for each in nodes_of(node)
    )


@lru_cache(1000)
def named_columns(sql: str) -> frozenset[tuple[str, ...]]:
    """The columns of an expression, each with what stands behind a dot; not the parameters of its lambdas,
    nor names of Muntin's own.

    >>> sorted(named_columns('sum("order".price * rates.rate) FILTER (WHERE city IS NOT NULL)'))
    [('city',), ('order', 'price'), ('rates', 'rate')]
    >>> sorted(named_columns("list_sum(list_transform(prices, lambda each: each + tip))"))
    [('prices',), ('tip',)]
    """
    return frozenset(
        path for path in _paths(syntax_of(f"SELECT {sql}")) if not path[0].lower().startswith("muntin_")
    )


def _paths(tree: Any) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - a tree of JSON
    if isinstance(tree, list):
        for each in tree:
            yield from _paths(each)
    elif isinstance(tree, dict) and tree.get("class") == "COLUMN_REF":
        yield tuple(tree["column_names"])
    elif isinstance(tree, dict) and tree.get("class") == "LAMBDA":
        own = {path[0] for path in _paths(tree["lhs"])}
        yield from (path for path in _paths(tree["expr"]) if path[0] not in own)
    elif isinstance(tree, dict):
        yield from _paths(list(tree.values()))
