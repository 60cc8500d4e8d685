"""Derive expressions: SQL over the row of a finished window, for more columns behind its aggregates.

Having: a SQL condition over the row of a finished window says whether the window is
published, or hidden.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa

from muntin.definition.expressions import hint
from muntin.engine.assignment import Assignment
from muntin.engine.past import exploded
from muntin.engine.windows import results
from muntin.errors import DefinitionError, SourceError
from muntin.sources.reading.scan import quoted
from muntin.sources.reading.sql_types import storable, stored_type
from muntin.sources.sessions.duckdb_session import closed_session, described, said
from muntin.sources.sessions.single_expressions import check_expression
from muntin.sources.sessions.time_limit import in_time
from muntin.states.columns import INSTANT, ITEM_POSITION
from muntin.states.frames import NO_INTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muntin.jobs.state.bound import Bound
    from muntin.sources.source import Columns

WINDOWS = "muntin_windows"


def derived(bound: Bound, window: str, windows: pa.Table) -> pa.Table:
    """The windows with the columns of derive expressions, which follow the aggregates.

    SourceError if an expression has no value for a window, as the number of a text that is none.
    """
    if not bound.pipeline.derived:
        return windows
    session = over(bound, window, windows)
    try:
        return _with(bound, session, windows, bound.pipeline.derived)
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        raise DefinitionError(
            f"SQL of aggregates does not fit the windows of {window!r}: {said(wrong)}"
        ) from wrong
    finally:
        session.unregister(WINDOWS)


def derived_of_ranges(bound: Bound, ranges: pa.Table) -> pa.Table:
    """Ranges with the columns of derive expressions that read nothing but what ranges have; see
    `lookups.over`.
    """
    if not bound.pipeline.derived:
        return ranges
    session, fitting = closed_session(), dict[str, str]()
    session.register(WINDOWS, ranges)
    try:
        for name, sql in bound.pipeline.derived.items():
            with suppress(duckdb.BinderException):  # of a column that windows have, and ranges do not
                described(session, query_with((fitting | {name: sql}).items()))
                fitting[name] = sql
        return _with(bound, session, ranges, fitting)
    finally:
        session.unregister(WINDOWS)


def _with(
    bound: Bound, session: duckdb.DuckDBPyConnection, windows: pa.Table, expressions: Mapping[str, str]
) -> pa.Table:
    """The windows of a session with the columns of some expressions."""
    if not expressions:
        return windows
    query = query_with(expressions.items())
    kinds = described(session, query)
    chosen = ", ".join(
        f"{quoted(name)}::{stored_type(kinds[name])} AS {quoted(name)}" for name in expressions
    )
    try:
        with in_time(session, ["SQL of aggregates"]):
            columns = storable(session.sql(f"SELECT {chosen} FROM ({query})").to_arrow_table())
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException):
        raise
    except duckdb.Error as wrong:
        raise SourceError(
            f"aggregates: {said(wrong)}; guard the expression, as with nullif, try_cast or case"
        ) from wrong
    place = windows.column_names.index(list(bound.aggregates)[-1]) + 1
    for at, name in enumerate(expressions):
        windows = windows.add_column(place + at, name, columns[name])
    return windows


def check_derived(bound: Bound, window: str, states: pa.Table) -> None:
    """Try the expressions on a window without rows. `states`: of the window's frame set, without rows."""
    session = over(bound, window, empty_row(bound, window, states))
    seen = list[tuple[str, str]]()
    for name, sql in bound.pipeline.derived.items():
        # as a condition, since SQL refuses aggregates and functions over other rows there
        try:
            described(session, f"SELECT 1 FROM ({query_with(seen)}) WHERE (({sql}) IS NULL)")
        except duckdb.Error as wrong:
            raise misfit(
                f"aggregates[{name!r}]: {sql!r}", window, sql, wrong, described(session, query_with(seen))
            ) from wrong
        seen.append((name, sql))


def check_read_by_next(bound: Bound, window: str, states: pa.Table) -> None:
    """Try the expressions over a window's results that the next window reads.

    Arguments as for `check_derived`.
    """
    for sql in bound.windows[window].made_of.of_results:
        session = closed_session()
        session.register(WINDOWS, empty_row(bound, window, states).select(list(bound.aggregates)))
        try:
            described(session, f"SELECT ({sql})::DOUBLE FROM {WINDOWS}")
        except duckdb.Error as wrong:
            names = ", ".join(bound.aggregates)
            raise DefinitionError(
                f"windows[{window!r}]: {sql!r} does not fit the results of a window: {said(wrong)}. There are"
                f" {names}"
            ) from wrong


def misfit(what: str, window: str, sql: str, wrong: duckdb.Error, columns: Columns) -> DefinitionError:
    """The error that SQL does not fit the columns of a window."""
    kinds = ", ".join(f"{column} {kind}" for column, kind in columns.items()) + hint(
        sql, str(wrong), columns, ""
    )
    return DefinitionError(
        f"{what} does not fit the windows of {window!r}: {said(wrong)}. A window has: {kinds}"
    )


def over(bound: Bound, window: str, windows: pa.Table, more: Iterable[str] = ()) -> duckdb.DuckDBPyConnection:
    """A session in which the windows are a table. `more`: further columns of it."""
    session = closed_session()
    names = (
        *bound.keys_of(window),
        "window_start",
        "window_end",
        *bound.windows[window].columns,
        *bound.aggregates,
        *more,
    )
    session.register(WINDOWS, windows.select(list(names)))
    return session


def query_with(columns: Iterable[tuple[str, str]]) -> str:
    """The query for windows with some columns; a column may read the columns before it."""
    query = f"FROM {WINDOWS}"
    for name, sql in columns:
        check_expression(sql, f"aggregates[{name!r}]")
        query = f"SELECT *, ({sql}) AS {quoted(name)} FROM ({query})"
    return query


def of_nothing(bound: Bound, schema: pa.Schema) -> dict[str, pa.Array]:
    """The aggregates of a window without rows."""
    no_rows, zero = NO_INTS, np.zeros(1, np.int64)
    end = zero + 1_000_000  # of some length, so that a rate is 0
    window = Assignment(no_rows, no_rows, zero, zero, end, zero, zero, zero, no_rows, no_rows, no_rows)
    return results(schema.empty_table(), window, bound.aggregates)


def empty_row(bound: Bound, window: str, states: pa.Table) -> pa.Table:
    """A window without rows, in the types that windows with rows have."""
    schema = states.schema
    columns = {key: pa.nulls(1, schema.field(key).type) for key in bound.keys_of(window)}
    columns |= {name: pa.nulls(1, INSTANT) for name in ("window_start", "window_end")}
    kinds = bound.windows[window].columns
    for name, kind in kinds.items():
        columns[name] = pa.nulls(
            1,
            (
                pa.type_for_alias(kind)
                if kind
                else schema.field(name).type
                if name in schema.names
                else pa.null()
            ),
        )
    row = pa.table(columns | of_nothing(bound, schema))
    return exploded(row, np.zeros(1, np.int64))[0] if ITEM_POSITION in kinds else row


def shown(bound: Bound, window: str, windows: pa.Table) -> np.ndarray | None:
    """Whether the condition holds for each window, null as false; None: all windows are published.

    `windows`: with the columns of derive expressions. SourceError if the condition has no value, as where a
    text is no number.
    """
    having = bound.windows[window].having
    if having is None:
        return None
    check_expression(having, _named(window))
    session = over(bound, window, windows, bound.pipeline.derived)
    try:
        with in_time(session, ["having"]):
            holds = session.sql(
                f"SELECT coalesce(({having}), false) AS holds FROM {WINDOWS}"
            ).to_arrow_table()["holds"]
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        raise DefinitionError(
            f"{_named(window)}: {having!r} does not fit the windows of {window!r}: {said(wrong)}"
        ) from wrong
    except duckdb.Error as wrong:
        raise SourceError(
            f"{_named(window)}: {said(wrong)}; guard the condition, as with nullif, try_cast or case"
        ) from wrong
    finally:
        session.unregister(WINDOWS)
    return holds.combine_chunks().to_numpy(zero_copy_only=False)


def check_having(bound: Bound, window: str, states: pa.Table) -> None:
    """Try the condition on a window without rows; it must be true or false.

    `states`: of the window's frame set, without rows.
    """
    having = bound.windows[window].having
    rows = query_with(bound.pipeline.derived.items())
    if having is None:
        return
    check_expression(having, _named(window))
    session = over(bound, window, empty_row(bound, window, states))
    columns = described(session, rows)
    try:
        # where SQL refuses aggregates, and other rows
        described(session, f"SELECT 1 FROM ({rows}) WHERE (({having}) IS NULL)")
        kind = described(session, f"SELECT ({having}) AS it FROM ({rows})")["it"]
    except duckdb.Error as wrong:
        raise misfit(f"{_named(window)}: {having!r}", window, having, wrong, columns) from wrong
    if kind != "BOOLEAN":
        raise DefinitionError(
            f"{_named(window)}: {having!r} is {kind}, and no condition; compare it, as {having} > 0"
        )


def _named(window: str) -> str:
    """The place of a condition in a definition."""
    return f"windows[{window!r}], having"
