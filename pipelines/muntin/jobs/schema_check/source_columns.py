"""Bind a definition to the source's columns before anything is read: unknown columns and impossible types
fail here.

Check that each SQL text of a definition is an expression over a row, before DuckDB binds it, for binding
runs statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

import duckdb
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate, asked_of
from muntin.definition.frame_sets import FrameSet
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.schema_check.definition_fit import check_fit
from muntin.jobs.schema_check.first_files import check_names, check_times, first_with_rows
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.source_note import noted
from muntin.sources.reading.column_hints import lacks_types
from muntin.sources.reading.column_types import check_numbers, column_types
from muntin.sources.reading.lift import states
from muntin.sources.reading.lift_sql import expression_sql, lifts_sql
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.row_times import event_time, staged
from muntin.sources.reading.scan import scan
from muntin.sources.reading.sql_types import stored_type
from muntin.sources.sessions.duckdb_session import described, explained, kept_session
from muntin.sources.sessions.fetched_files import asked_once
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.sessions.single_expressions import check_expression, check_type, is_broken
from muntin.states.columns import FIRST_EVENT, FRAME, LAST_EVENT, ORDINAL


def check_sql(bound: Bound) -> None:
    """Refuse SQL that could do more than read a row; the error names the part of the definition."""
    for column, kind in bound.source.types.items():
        check_type(kind, f"types[{column!r}]")
    for name, aggregate in bound.aggregates.items():
        _check_aggregate(aggregate, f"aggregates[{name!r}]")
    for what, sql in _expressions(bound):
        check_expression(sql, what)


def _check_aggregate(aggregate: Aggregate, what: str) -> None:
    """Refuse an aggregate by what its user wrote, not by the SQL that is made of it."""
    try:
        for field in aggregate.fields:
            for sql in (*lifts_sql(field).values(), *(expression_sql(each) for each, _ in asked_of(field))):
                check_expression(sql, what, str(aggregate))
    except DefinitionError:
        for sql in (aggregate.of, *(field.where for field in aggregate.fields)):
            if sql and is_broken(sql):
                check_expression(sql, what)
        raise


def _expressions(bound: Bound) -> Iterator[tuple[str, str]]:
    if where := bound.pipeline.filter:
        yield "where", where
    for name, window in bound.windows.items():
        if window.having is not None:
            yield f"windows[{name!r}], having", window.having
        # as the user wrote it
        own = [
            getattr(policy, part, "") for policy in getattr(window, "policies", ()) for part in ("of", "at")
        ]
        for sql in (
            *filter(None, own),
            *(sql for sql, _ in window.made_of.needs),
            *window.made_of.lifts.values(),
        ):
            yield f"windows[{name!r}]", sql
    for name, sql in bound.pipeline.derived.items():
        yield f"aggregates[{name!r}]", sql


_TYPED = "muntin_typed"


def bound_types(
    bound: Bound, state_schemas: Mapping[str, pa.Schema | None], pieces: Sequence[Sequence[str]]
) -> dict[str, dict[str, str]]:
    """The SQL types of the columns of each frame set's table: as in the state, else as the first files with
    rows say.

    Where a batch with a contradiction waits, files with a contradiction are passed over; if all have, the
    state says the types. SQL that is more than an expression, or does not fit the columns, is an error.
    """
    session = kept_session(bound.source.timezone)
    let_read(session, bound.source, chain(*pieces))
    check_sql(bound)
    try:
        with asked_once(pieces[0]):
            return _bound_types(session, bound, state_schemas, pieces)
    except (duckdb.Error, SourceError, DefinitionError) as wrong:
        error = explained(wrong, pieces[0]) if isinstance(wrong, duckdb.Error) else wrong
        if bound.source.blank:  # no row had a part in it
            raise error from wrong
        with suppress(FileNotFoundError):  # gone since it was listed
            if types := _of_good_rows(session, bound, state_schemas, pieces):
                return types
        from muntin.jobs.schema_check.contradictions import contradictions
        from muntin.jobs.schema_check.contradictions import reported as contradicted

        first = first_with_rows(session, bound, pieces)
        before = noted(bound.folder, bound.source.member)
        conflicts = contradictions(session, bound, before, first)
        if conflicts and bound.source.on_schema == "quarantine":
            others = [piece for piece in pieces if not contradictions(session, bound, before, piece)]
            if others:
                return bound_types(bound, state_schemas, others)
            return {
                table: {} if schema is None else _described(session, schema)
                for table, schema in state_schemas.items()
            }
        from muntin.jobs.schema_check.fitting_files import with_odd_cells

        error = (
            lacks_types(session, bound.source, first) if isinstance(wrong, duckdb.BinderException) else None
        ) or error
        raise contradicted(with_odd_cells(session, bound, first, error), conflicts) from wrong


def _described(session: duckdb.DuckDBPyConnection, schema: pa.Schema) -> dict[str, str]:
    session.register("muntin_known", schema.empty_table())
    return described(session, "FROM muntin_known")


def _of_good_rows(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    state_schemas: Mapping[str, pa.Schema | None],
    pieces: Sequence[Sequence[str]],
) -> dict[str, dict[str, str]] | None:
    """The types as `bound_types` gives them, of the first files that have rows without bad rows and files;
    None if no file has.

    Where no file has a row left, no state has a type. A definition that no file fits is wrong, and not the
    files.
    """
    from muntin.jobs.schema_check.fitting_files import fitting

    bad = misfit = False
    for piece in pieces:
        with fitting(session, bound, piece) as (of_copies, files):
            bad = bad or files.differ or files.has_no_row_left
            misfit = misfit or bool(files.misfits)
            if files.has_no_row_left:
                continue
            if not bad:
                return None
            try:
                return _bound_types(session, of_copies, state_schemas, [files.paths])
            except MuntinError as wrong:
                raise type(wrong)(files.named(str(wrong))) from wrong
    return {frames.table: {} for frames in bound.frame_sets} if bad and not misfit else None


def _bound_types(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    state_schemas: Mapping[str, pa.Schema | None],
    pieces: Sequence[Sequence[str]],
) -> dict[str, dict[str, str]]:
    paths = first_with_rows(session, bound, pieces)
    read_as, columns = column_types(session, bound.source, paths, bound.may_use)
    check_numbers(session, bound.source, paths, read_as.fractions)
    files = scan(bound.source, paths, read_as)
    event_time(bound.source, columns)
    check_names(session, bound.source, columns, paths)
    check_times(session, bound.source, columns, paths)
    rows = staged(bound.source, files, columns, ordinal=True)
    # without a row: to bind SQL to it opens no file
    session.execute(f"CREATE OR REPLACE TEMP TABLE {_TYPED} AS FROM ({rows}) LIMIT 0")
    check_fit(session, bound, _TYPED, columns)
    return {
        frames.table: _types(session, bound, frames, _TYPED, columns, state_schemas.get(frames.table))
        for frames in bound.frame_sets
    }


def _types(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    frames: FrameSet,
    rows: str,
    columns: Mapping[str, str],
    state_schema: pa.Schema | None,
) -> dict[str, str]:
    here = {
        name: stored_type(kind)
        for name, kind in described(
            session, states(bound.pipeline, bound.fields, frames, rows, Taken(0), columns)
        ).items()
    }
    if state_schema is None:
        return here
    before = _described(session, state_schema)
    ours = {
        FRAME,
        FIRST_EVENT,
        LAST_EVENT,
        ORDINAL,
        *(column for each in bound.fields if each.seal for column in each.lifts),
    }
    return {name: kind if name in ours else before.get(name, kind) for name, kind in here.items()}
