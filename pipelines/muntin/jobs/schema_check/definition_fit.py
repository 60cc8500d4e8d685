"""See that keys, filter, aggregates, windows and derive expressions of a definition fit the columns of its
source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from muntin.aggregates.aggregate import asked_of, sealed
from muntin.definition.expressions import hint
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError, SourceError
from muntin.sources.nested_types import is_nested
from muntin.sources.reading.lift import states
from muntin.sources.reading.lift_sql import expression_sql, lifts_sql
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.sql_types import NEEDS, meets, stored
from muntin.sources.sessions.duckdb_session import described, said
from muntin.states.columns import SOURCE_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.sources.source import Columns


def check_fit(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Columns) -> None:
    """See that a definition fits a source: its columns are there, and have types that can be.

    `rows`: SQL, as `staged` gives it.
    """
    there = columns
    if bound.source.lookups:
        from muntin.sources.reading.dimension import with_keys

        there = with_keys(bound.source, columns)
    _check_keys(bound, there)
    if bound.pipeline.where:
        _try(
            session,
            bound,
            f"SELECT 1 FROM {rows} WHERE {bound.pipeline.where}",
            f"where: {bound.pipeline.where!r}",
            columns,
        )
    check_aggregates(session, bound, rows, columns)
    asked = list[_Asked]()
    for name, window in bound.windows.items():
        asked += [_Asked(f"windows[{name!r}]", sql, need) for sql, need in window.made_of.needs]
        asked += [_Asked(f"windows[{name!r}]", lift) for lift in window.made_of.lifts.values()]
    _check(session, bound, asked, rows, columns)
    _check_derived(session, bound, rows, columns)


def _check_keys(bound: Bound, columns: Columns) -> None:
    for key in bound.pipeline.keys:
        if key not in columns:
            near = did_you_mean(key, columns)
            raise DefinitionError(
                f"keys: no column {key!r} in the source; there are {', '.join(columns)}{near}"
            )
        if is_nested(columns[key]):
            raise DefinitionError(
                f"keys: {key!r} is {columns[key]}; a key is a plain value. Give the source a column with the"
                " part that tells windows apart, or with the whole as text. The source has:"
                f" {_listed(columns)}"
            )


def check_aggregates(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Columns) -> None:
    """See that the aggregates that take rows of the source fit its columns: as `check_fit`, of aggregates
    alone.
    """
    asked = list[_Asked]()
    for name, aggregate in bound.own_aggregates.items():
        what = f"aggregates[{name!r}]: {aggregate}"
        for field in aggregate.fields:
            asked += [_Asked(what, lift) for lift in lifts_sql(field).values()]
            asked += [_Asked(what, expression_sql(expression), need) for expression, need in asked_of(field)]
    _check(session, bound, asked, rows, columns)


@dataclass(frozen=True, slots=True)
class _Asked:
    """SQL of a definition: an aggregate over the rows, or an expression of a row whose type must be what is
    needed.
    """

    what: str
    sql: str
    need: str | None = None


def _check(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    asked: Sequence[_Asked],
    rows: str,
    columns: Columns,
) -> None:
    """Refuse SQL that does not bind, and an expression whose type is not what it must be. The error is of the
    first.

    All SQL is bound at once, since each query costs a millisecond in each run; where it does not bind, each
    expression by itself.
    """
    kinds: Iterable[str]
    try:
        kinds = _kinds(session, asked, rows)
    except duckdb.Error:
        kinds = (
            _try(session, bound, _select([each], rows), each.what, columns).popitem()[1] for each in asked
        )
    for each, kind in zip(asked, kinds, strict=True):
        if each.need and not meets(kind, each.need):
            near = (
                hint(each.sql, kind, columns, bound.source.call)
                if each.need in ("number", "difference")
                else ""
            )
            needed = f"{each.what} needs {NEEDS[each.need]}, and {each.sql!r} is {kind}"
            raise DefinitionError(f"{needed}. The source has: {_listed(columns)}{near}")


def _kinds(session: duckdb.DuckDBPyConnection, asked: Sequence[_Asked], rows: str) -> list[str]:
    """The SQL type of each. Aggregates stand in one query, expressions of a row in another."""
    types = dict[_Asked, str]()
    for together in ([each for each in asked if each.need is None], [each for each in asked if each.need]):
        if together:
            types |= zip(together, described(session, _select(together, rows)).values(), strict=True)
    return [types[each] for each in asked]


def _select(asked: Sequence[_Asked], rows: str) -> str:
    columns = ", ".join(f'({each.sql}) AS "muntin {number}"' for number, each in enumerate(asked))
    return f"SELECT {columns} FROM {rows} AS {SOURCE_ROWS}"


def _check_derived(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Columns) -> None:
    if not bound.pipeline.derived and all(
        kind.having is None and not kind.made_of.of_results for kind in bound.windows.values()
    ):
        return
    from muntin.jobs.schema_check.derive_expressions import check_derived, check_having, check_read_by_next

    for frames in bound.frame_sets:
        none = sealed(
            stored(
                session, f"{states(bound.pipeline, bound.fields, frames, rows, Taken(0), columns)} LIMIT 0"
            ),
            bound.fields,
        )
        for window in frames.windows:
            check_derived(bound, window, none)
            check_read_by_next(bound, window, none)
            check_having(bound, window, none)


def _listed(columns: Columns) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _try(
    session: duckdb.DuckDBPyConnection, bound: Bound, query: str, what: str, columns: Columns
) -> dict[str, str]:
    try:
        return described(session, query)
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        near = hint(what, str(wrong), columns, bound.source.call)
        raise DefinitionError(
            f"{what} does not fit the source: {said(wrong)}. The source has: {_listed(columns)}{near}"
        ) from wrong
    except duckdb.Error as wrong:
        raise SourceError(f"{what}: {wrong}") from wrong
