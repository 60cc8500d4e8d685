"""SQL over the published windows of a pipeline, which it knows by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.files.paths import AnyPath
from muntin.jobs.inspect.read import columns_of, read
from muntin.jobs.inspect.selection import no_window
from muntin.sources.new_session import connect
from muntin.sources.sessions.duckdb_session import said
from muntin.sources.sessions.single_expressions import OF_VALUES, nodes, own_tables
from muntin.sources.sessions.time_limit import USUAL_MEMORY, within_bounds

_WINDOWS_ALONE = "a query reads windows, by their names, and no file"
_OF_SESSION = (
    "current_setting",
    "getvariable",
    "getenv",
    "which_secret",
    "pg_get_viewdef",
    "write_log",
    "query",
    "query_table",
)


def sql(pipeline: Pipeline, query: str, *, root: str | AnyPath) -> pa.Table:
    """The result of a query over published windows, in the SQL of DuckDB.

    Each window is a table by its name, a rollup as "day.by_city" in quotes, with the rows and columns that
    `read` gives. Only windows that the query names are read. There is nothing else to read, and nothing to
    write to: no file, no setting, no extension.

    Args:
        pipeline: the definition.
        query: one SELECT, or WITH, FROM, VALUES, DESCRIBE, SUMMARIZE.
        root: folder that state lives below.

    Returns:
        the columns of the query in its order; of columns with one name the second is name_2. Instants are
        timestamp us UTC.

    Raises:
        DefinitionError: it is no such query, names a table that is no window, or cannot be computed; or it
            takes longer than `MUNTIN_SQL_SECONDS` (300), or more memory than `MUNTIN_SQL_MEMORY` (4GB).
        StateError: as `read`.
    """
    session = connect(memory=USUAL_MEMORY)
    [(text,)] = session.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(text)
    if parsed["error"] and parsed["error_type"] == "parser":
        raise DefinitionError(f"sql: {parsed['error_message']}")
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise DefinitionError("sql: give one query that reads, as 'select * from day'; nothing else is run")
    own = set(own_tables(parsed))
    if other := next((name for name in _functions(parsed) if name.lower() in _OF_SESSION), None) or next(
        _other_tables(parsed), None
    ):
        raise DefinitionError(f"sql: {other} reads something else than windows; {_WINDOWS_ALONE}")
    names = {
        window
        for node in nodes(parsed)
        if node.get("table_name")
        for window in _windows_of(pipeline, node, own)
    }
    for name in names:
        session.register(name, read(pipeline, name, root=root))
    columns = {name: columns_of(pipeline, name) for name in names}
    table = within_bounds(session, lambda: _result(session, query, columns))
    return table.rename_columns([*_distinct(table.column_names)])


def _functions(tree: Any) -> Iterator[str]:  # noqa: ANN401 - a tree of JSON
    if isinstance(tree, list):
        for each in tree:
            yield from _functions(each)
    elif isinstance(tree, dict):
        if isinstance(name := tree.get("function_name"), str):
            yield name
        yield from _functions(list(tree.values()))


def _other_tables(parsed: Any) -> Iterator[str]:  # noqa: ANN401 - a tree of JSON
    """The table functions of a query that are not of its own values."""
    called = (node["function"]["function_name"] for node in nodes(parsed) if node["type"] == "TABLE_FUNCTION")
    return (name for name in called if name.lower() not in OF_VALUES)


def _windows_of(pipeline: Pipeline, table: Mapping[str, str], own: set[str]) -> list[str]:
    """The window that a table of a query is; none if the query itself makes the table.

    `own`: names of such tables.
    """
    name = ".".join(table[part] for part in ("catalog_name", "schema_name", "table_name") if table[part])
    windows = [window for window in pipeline.windows if window.lower() == name.lower()]
    if len(windows) > 1:
        raise DefinitionError(
            f"sql: the names {' and '.join(windows)} are one in SQL; rename one of these windows, with"
            " renamed=Renamed(windows=...)"
        )
    if windows and table["schema_name"]:
        raise DefinitionError(
            f'sql: write "{name}", in quotes: without them SQL takes what is before the dot for a schema'
        )
    if not windows and name.lower() not in own:
        raise DefinitionError(f"sql: {no_window(pipeline, name)}")
    return windows


def _result(session: duckdb.DuckDBPyConnection, query: str, columns: Mapping[str, Sequence[str]]) -> pa.Table:
    """The result of a query. `columns`: of the windows in it."""
    try:
        return session.sql(query).to_arrow_table()
    except duckdb.PermissionException as wrong:
        raise DefinitionError(f"sql: {_WINDOWS_ALONE}") from wrong
    except (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError) as wrong:
        text = said(wrong)
        there = "".join(f"; {window} has {', '.join(names)}" for window, names in columns.items())
        column_names = {name for names in columns.values() for name in names}
        near = next(
            filter(None, (did_you_mean(word, column_names) for word in re.findall(r'"([^"]+)"', text))), ""
        )
        raise DefinitionError(
            f"sql: {text}" + f"{there}{near}" * isinstance(wrong, duckdb.BinderException)
        ) from wrong


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """The names of columns, each once.

    >>> [*_distinct(["n", "n", "n_2", "n"])]
    ['n', 'n_2', 'n_2_2', 'n_3']
    """
    seen: set[str] = set()
    for name in names:
        number, free = 1, name
        while free in seen:
            number += 1
            free = f"{name}_{number}"
        seen.add(free)
        yield free
