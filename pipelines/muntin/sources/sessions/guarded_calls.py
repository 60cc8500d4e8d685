"""Aggregate calls with a FILTER, so that nothing is computed for the rows that it leaves out.

DuckDB computes the arguments of a call for all rows, and all conditions of an AND:

    sum(v::INTEGER) FILTER (WHERE kind = 'number')          fails where v is a text and kind another
    sum(CASE WHEN kind = 'number' THEN v::INTEGER END) FILTER (WHERE kind = 'number')
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muntin.sources.sessions.aggregate_calls import aggregate_calls, parsed
from muntin.sources.sessions.row_expressions import as_sql, expressions_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Let the conditions of an AND be computed one behind another, each where the conditions before it are
    true; whether that is needed.
    """
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
    return node["class"] not in _SURE and any(not name.startswith(_OURS) for name in _columns(node))


def _columns(tree: Any) -> Iterator[str]:  # noqa: ANN401 - a tree of JSON
    if isinstance(tree, list):
        for each in tree:
            yield from _columns(each)
    elif isinstance(tree, dict):
        if tree.get("class") == "COLUMN_REF":
            yield tree["column_names"][-1]
        yield from _columns(list(tree.values()))
