"""The columns that SQL of a definition names, by DuckDB's own parser."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muntin.sources.sessions.duckdb_session import any_session

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARSED = "SELECT json_serialize_sql(?, skip_null := true, skip_default := true)"


@lru_cache(1000)
def named_columns(sql: str) -> frozenset[tuple[str, ...]]:
    """The columns of an expression, each with what stands behind a dot; not the parameters of its lambdas,
    nor names of Muntin's own.

    >>> sorted(named_columns('sum("order".price * rates.rate) FILTER (WHERE city IS NOT NULL)'))
    [('city',), ('order', 'price'), ('rates', 'rate')]
    >>> sorted(named_columns("list_sum(list_transform(prices, lambda each: each + tip))"))
    [('prices',), ('tip',)]
    """
    [(text,)] = any_session().execute(_PARSED, [f"SELECT {sql}"]).fetchall()
    return frozenset(path for path in _paths(json.loads(text)) if not path[0].lower().startswith("muntin_"))


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
