"""Derived columns: SQL over the row of a finished window, in the task that finishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa

from pipelines.engine.combine import results
from pipelines.engine.explode import POSITION, exploded
from pipelines.engine.frames import INSTANT
from pipelines.errors import DefinitionError, SourceError
from pipelines.jobs.sql_types import storable, stored_type
from pipelines.sources.scan import quoted
from pipelines.sources.session import described, kept_session, said
from pipelines.windows.kind import Assignment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.definition.pipeline import Pipeline

_WINDOWS = "muntin_windows"


def derived(pipeline: Pipeline, window: str, windows: pa.Table) -> pa.Table:
    """The windows with the columns that are derived of the others, behind the aggregates.

    Raises:
        DefinitionError: an expression does not fit the columns of the window.
        SourceError: an expression has no value for some window, as a text that is no number.
    """
    if not pipeline.derive:
        return windows
    session, query = _over(pipeline, window, windows), _query(pipeline.derive.items())
    try:
        kinds = described(session, query)
        chosen = ", ".join(f"{quoted(name)}::{stored_type(kinds[name])} AS {quoted(name)}" for name in pipeline.derive)
        found = storable(session.sql(f"SELECT {chosen} FROM ({query})").to_arrow_table())
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        raise DefinitionError(f"derive does not fit the windows of {window!r}: {said(wrong)}") from wrong
    except duckdb.Error as wrong:
        raise SourceError(f"derive: {said(wrong)}; guard the expression, as with nullif, try_cast or case") from wrong
    finally:
        session.unregister(_WINDOWS)
    place = windows.column_names.index(list(pipeline.aggregates)[-1]) + 1
    for at, name in enumerate(pipeline.derive):
        windows = windows.add_column(place + at, name, found[name])
    return windows


def check_derived(pipeline: Pipeline, window: str, states: pa.Table) -> None:
    """Try the expressions on a window without rows.

    Args:
        pipeline, window: the definition and the name of a window.
        states: of the window's frame set, with no rows.

    Raises:
        DefinitionError: an expression does not fit the columns of the window, or looks at other windows.
    """
    row = _empty_row(pipeline, window, states)
    session, seen = _over(pipeline, window, row), list[tuple[str, str]]()
    for name, sql in pipeline.derive.items():
        # aggregates and functions over other rows are refused where a condition stands
        try:
            described(session, f"SELECT 1 FROM ({_query(seen)}) WHERE (({sql}) IS NULL)")
        except duckdb.Error as wrong:
            there = described(session, _query(seen))
            kinds = ", ".join(f"{column} {kind}" for column, kind in there.items())
            raise DefinitionError(
                f"derive[{name!r}]: {sql!r} does not fit the windows of {window!r}: {said(wrong)}. A window has: {kinds}"
            ) from wrong
        seen.append((name, sql))


def _over(pipeline: Pipeline, window: str, windows: pa.Table) -> duckdb.DuckDBPyConnection:
    """A session that knows these windows."""
    session = kept_session(None)
    names = (*pipeline.keys, "window_start", "window_end", *pipeline.windows[window].columns, *pipeline.aggregates)
    session.register(_WINDOWS, windows.select(list(names)))
    return session


def _query(columns: Iterable[tuple[str, str]]) -> str:
    """Windows with these columns; each may read those before it."""
    query = f"FROM {_WINDOWS}"
    for name, sql in columns:
        query = f"SELECT *, ({sql}) AS {quoted(name)} FROM ({query})"
    return query


def of_nothing(pipeline: Pipeline, schema: pa.Schema) -> dict[str, pa.Array]:
    """The aggregates of a window without rows."""
    none, one = np.empty(0, np.int64), np.zeros(1, np.int64)
    window = Assignment(none, none, one, one, one, one, one, one, none, none, none)
    return results(schema.empty_table(), window, pipeline.aggregates)


def _empty_row(pipeline: Pipeline, window: str, states: pa.Table) -> pa.Table:
    """A window without rows, in the types that windows with rows have."""
    known = states.schema
    columns = {key: pa.nulls(1, known.field(key).type) for key in pipeline.keys}
    columns |= {name: pa.nulls(1, INSTANT) for name in ("window_start", "window_end")}
    kinds = pipeline.windows[window].columns
    for name, kind in kinds.items():
        columns[name] = pa.nulls(1, pa.type_for_alias(kind) if kind else known.field(name).type if name in known.names else pa.null())
    row = pa.table(columns | of_nothing(pipeline, known))
    return exploded(row, np.zeros(1, np.int64))[0] if POSITION in kinds else row
