"""Check that SQL of a definition is a single expression over a row: no statement, table or file.

Uses DuckDB's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.sources.sessions.aggregate_calls import asked, nodes_of, syntax_of

_BROKEN = "is not a SQL expression"
_RESERVED = (
    "SELECT 1 FROM duckdb_keywords() WHERE keyword_name = ? AND keyword_category IN ('reserved',"
    " 'type_function')"
)
OF_VALUES = ("unnest", "range", "generate_series", "json_each", "json_tree")
"""Tables that are made of a row's own values."""
_NODES = (
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "EMPTY", "SUBQUERY", "JOIN", "EXPRESSION_LIST",
    "ORDER_MODIFIER", "LIMIT_MODIFIER", "DISTINCT_MODIFIER", "ORDER_DEFAULT", "ASCENDING", "DESCENDING",
)  # fmt: skip
_TYPES = (
    "VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "DECIMAL(18, 2)", "BOOLEAN", "DATE", "TIME", "TIMESTAMP",
    "TIMESTAMPTZ", "UUID", "BLOB",
)  # fmt: skip
_OF_OTHERS = {
    "str": "VARCHAR", "object": "VARCHAR", "utf8": "VARCHAR", "large_string": "VARCHAR",
    "number": "DOUBLE", "float64": "DOUBLE",
    "money": "DECIMAL(18, 2)", "currency": "DECIMAL(18, 2)", "int": "BIGINT", "datetime": "TIMESTAMP",
    "datetime64": "TIMESTAMP",
}  # fmt: skip
_CALL = re.compile(r"[a-z_]+\((.+)\)")  # around what a user wrote
_MAY_BE_A_NAME = re.compile(r"[^\W\d][\w ()%/.,:#€$&+-]*[\w)%€$]")
_AROUND = ("where_clause", "group_expressions", "group_sets", "having", "sample", "qualify", "modifiers")


def check_expression(sql: str, what: str, shown: str | None = None) -> None:
    """Refuse SQL that is more than an expression over a row and its own values.

    `what` names it in the error, `shown` is quoted there: the SQL, unless Muntin's own SQL is around it.
    """
    if fault := _fault(sql):
        raise DefinitionError(f"{what}: {shown or repr(sql)} {fault}")


def is_broken(sql: str) -> bool:
    """Whether SQL cannot be parsed."""
    return _fault(sql).startswith(_BROKEN)


def check_type(kind: str, what: str) -> None:
    """Refuse what is no SQL type."""
    if (
        not isinstance(kind, str)
        or not kind.strip()
        or _fault(f"NULL::{kind}", "CAST")
        or not _is_known(kind)
    ):
        meant = _OF_OTHERS.get(re.sub(r"\W.*", "", str(getattr(kind, "__name__", kind)).lower()))
        near = (
            f'; did you mean "{meant}"?'
            if meant
            else did_you_mean(kind, _TYPES)
            if isinstance(kind, str)
            else ""
        )
        raise DefinitionError(
            f"{what}: {kind!r} is not a SQL type; there are {', '.join(_TYPES)}, lists as INTEGER[], and"
            f" structs{near}"
        )


@lru_cache(1000)
def _is_known(kind: str) -> bool:
    """Whether DuckDB has a type. Only the types of values that a session makes itself can be asked for."""
    import duckdb

    try:
        asked(f"SELECT NULL::{kind}")
    except duckdb.Error:
        return False
    return True


@lru_cache(1000)
def _fault(sql: str, kind: str | None = None) -> str:
    """The fault of an expression; "" if it has none. `kind`: of which class it has to be."""
    parsed = syntax_of(f"SELECT {sql}")
    if parsed["error"] and parsed["error_type"] == "parser":
        return f"{_BROKEN}: {parsed['error_message']}{_meant(sql)}"
    if parsed["error"]:
        return "is not a single SQL expression"
    select = parsed["statements"][0]["node"]
    if (
        len(parsed["statements"]) > 1
        or not _is_bare(select)
        or (kind and select["select_list"][0]["class"] != kind)
    ):
        return "is not a single SQL expression"
    # DuckDB takes a name for a file only if it has a dot
    names = {name for name in own_tables(select) if re.fullmatch(r"\w+", name)}
    tables = [name for each in nodes(select) if (name := _table(each, names))]
    return (
        f"reads {tables[0]}; SQL of a definition reads the columns of the source and nothing else"
        if tables
        else ""
    )


def _meant(sql: str) -> str:
    """A hint where SQL parses once a name in it is quoted, as `at` or `end`."""
    for word in dict.fromkeys(re.findall(r"(?<![\"'\w])[A-Za-z_]\w*(?![\"'\w(])", sql)):
        if asked(_RESERVED, word.lower()):
            quoted = re.sub(rf"(?<![\"'\w]){word}(?![\"'\w])", f'"{word}"', sql)
            # in brackets a name is no alias
            if not syntax_of(f"SELECT ({quoted})")["error"]:
                return f'; {word} is a word of SQL: write "{word}" for a column of this name'
    name = match[1] if (match := _CALL.fullmatch(sql)) else sql
    return f"; write '\"{name}\"' for a column of this name" if _MAY_BE_A_NAME.fullmatch(name) else ""


def _is_bare(select: Any) -> bool:  # noqa: ANN401 - a tree of JSON
    """Whether a query is SELECT and an expression, nothing behind it."""
    return (
        select["type"] == "SELECT_NODE"
        and len(select["select_list"]) == 1
        and not select["cte_map"]["map"]
        and select["from_table"]["type"] == "EMPTY"
        and select["aggregate_handling"] == "STANDARD_HANDLING"
        and not any(select[part] for part in _AROUND)
    )


def nodes(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - a tree of JSON
    """The parts of a query that are no expressions: queries, tables, orders."""
    return (each for each in nodes_of(tree) if isinstance(each.get("type"), str) and "class" not in each)


def own_tables(tree: Any) -> Iterator[str]:  # noqa: ANN401 - a tree of JSON
    """The names that the query itself gives to tables, by WITH, in lower case."""
    for each in nodes_of(tree):
        yield from (name["key"].lower() for name in (each.get("cte_map") or {}).get("map", ()))


def _table(node: dict[str, Any], own: set[str]) -> str:
    """The table or file that a node reads, or what no expression needs; "" if an expression may hold it."""
    match node["type"]:
        case "BASE_TABLE":
            plain = not node["schema_name"] and not node["catalog_name"] and node["table_name"].lower() in own
            return "" if plain else f"the table {node['table_name']!r}"
        case "TABLE_FUNCTION":
            name = node["function"]["function_name"]
            return "" if name.lower() in OF_VALUES else f"the table function {name}"
        case kind:
            return "" if kind in _NODES else kind.lower().replace("_", " ")
