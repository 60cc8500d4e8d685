"""Narrow each aggregate call in a SQL text by a FILTER.

DuckDB's parser says where the calls are; the rest of the text stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from muntin.errors import DefinitionError

Words = Sequence[tuple[int, bytes]]
Edit = tuple[int, int, str]  # instead of the bytes [from, to)


_SELECT = "SELECT "
_CALLS = ("FUNCTION", "WINDOW_AGGREGATE")
_NAMES = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"


@lru_cache(1000)
def narrowed(lift: str, condition: str) -> str:
    """The lift with each of its aggregates over the rows for which `condition` is true.

    >>> narrowed("sum(x) / count(*) FILTER (WHERE x > 0)", "y > 0")
    'sum(x) FILTER (WHERE (y > 0)) / count(*) FILTER (WHERE (y > 0) AND ( x > 0))'
    """
    words = _words(_SELECT + lift)
    starts = sorted(
        {call["query_location"] for call in aggregate_calls(parsed(lift))}, reverse=True
    )  # an inner call before the call around it
    edits = [edit for start in starts for edit in _edits(words, start, condition)]
    text, out, at = (_SELECT + lift).encode(), list[bytes](), len(_SELECT)
    for begin, end, new in sorted(edits, key=lambda edit: edit[0]):
        out += [text[at:begin], new.encode()]
        at = end
    return b"".join([*out, text[at:]]).decode()


def parsed(lift: str) -> Any:  # noqa: ANN401 - a tree of JSON
    """The statements of a text, as DuckDB's parser tells them."""
    tree = syntax_of(_SELECT + lift, ", skip_null := true, skip_default := true")
    if tree["error"]:
        raise DefinitionError(f"{lift!r} is not a SQL expression: {tree['error_message']}")
    return tree["statements"]


def syntax_of(query: str, options: str = "") -> Any:  # noqa: ANN401 - a tree of JSON
    """A query as DuckDB's parser takes it apart. `options`: more arguments of the parser's function."""
    return json.loads(asked(f"SELECT json_serialize_sql(?{options})", query)[0])


def asked(question: str, *given: str) -> list[Any]:
    """The first column of what DuckDB answers, whatever the session."""
    from muntin.sources.sessions.duckdb_session import any_session

    return [answer for answer, *_ in any_session().execute(question, given).fetchall()]


def nodes_of(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - a tree of JSON
    """The parts of a tree, each before what is inside of it."""
    if isinstance(tree, dict):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from nodes_of(each)


@cache
def _aggregates() -> frozenset[str]:
    return frozenset(asked(_NAMES))


def aggregate_calls(
    tree: Any,  # noqa: ANN401 - a tree of JSON
    *,
    into_queries: bool = True,
    around: int | None = None,
) -> Iterator[dict[str, Any]]:
    """The calls of aggregates in a parsed text, each with the place where its name begins; `into_queries`: in
    queries inside it, too.

    The parser gives no place to a call that it adds. DuckDB 1.5 reads `list(x ORDER BY x)` as
    `list_sort(list(x))`: there the place is that of the call `around`.
    """
    if isinstance(tree, list):
        for each in tree:
            yield from aggregate_calls(each, into_queries=into_queries, around=around)
    elif isinstance(tree, dict) and (into_queries or tree.get("class") != "SUBQUERY"):
        place = tree.get("query_location", around) if tree.get("type") in _CALLS else None
        if place is not None and tree["function_name"].lower() in _aggregates():
            yield {**tree, "query_location": place}
        yield from aggregate_calls(list(tree.values()), into_queries=into_queries, around=place)


def _words(text: str) -> Words:
    """The words of a text by DuckDB's rules: a string, a quoted name or a bracket is one; a comment none."""
    import duckdb

    starts = [at for at, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment]
    small = text.encode().lower()
    texts = ((at, small[at:end]) for at, end in pairwise([*starts, len(small)]))
    return [(at, text[:1] if text[:1] in (b"(", b")") else text.split()[0]) for at, text in texts]


def _edits(words: Words, start: int, condition: str) -> Iterator[Edit]:
    """The edits that make a call narrower: a FILTER behind it, or another condition in its FILTER."""
    # sum(x) FILTER (WHERE x > 0)
    #      ^ close   ^ last     ^ end
    spelled = [word for _, word in words]
    close = _closing(spelled, next(index for index, (at, _) in enumerate(words) if at == start))
    if spelled[close + 1 : close + 3] == [b"within", b"group"]:
        close = _closing(spelled, close + 3)
    behind = words[close][0] + 1
    if spelled[close + 1 : close + 3] != [b"filter", b"("]:
        yield behind, behind, f" FILTER (WHERE ({condition}))"
        return
    last = close + 3 if spelled[close + 3] == b"where" else close + 2
    end = words[_closing(spelled, close + 2)][0]
    yield behind, words[last][0] + len(spelled[last]), f" FILTER (WHERE ({condition}) AND ("
    yield end, end, ")"


def _closing(spelled: Sequence[bytes], first: int) -> int:
    """The bracket that closes the next opening bracket."""
    open_ = 0
    for at in range(first, len(spelled)):
        open_ += (spelled[at] == b"(") - (spelled[at] == b")")
        if spelled[at] == b")" and not open_:
            return at
    raise AssertionError("the parser took a text in which a bracket stays open")
