"""Bind a definition to the source's columns before anything is read: unknown columns and impossible types fail here."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import duckdb

from pipelines.aggregates.aggregate import sealed
from pipelines.aggregates.grouping import asked_of
from pipelines.definition.kinds import RowStates
from pipelines.definition.spelling import did_you_mean
from pipelines.errors import DefinitionError, MuntinError, SourceError
from pipelines.jobs.run.contradictions import contradictions, waits
from pipelines.jobs.run.contradictions import told as contradicted
from pipelines.jobs.run.definition_sql import check_sql
from pipelines.jobs.run.first_files import first_with_rows
from pipelines.jobs.run.fitting_files import fitting
from pipelines.jobs.run.odd_cells import with_odd_cells
from pipelines.jobs.run.times_of_files import check_times
from pipelines.jobs.source_note import noted
from pipelines.sources.duckdb_session import described, explained, kept_session, said
from pipelines.sources.fetched_files import asked_once
from pipelines.sources.json_columns import read_as
from pipelines.sources.lift import states
from pipelines.sources.lift_sql import expression_sql, lifts_sql
from pipelines.sources.nested_types import is_nested
from pipelines.sources.object_files import let_read
from pipelines.sources.scan import event_time, quoted, scan, staged
from pipelines.sources.sql_types import NEEDS, meets, stored, stored_type
from pipelines.sources.taken_times import Taken
from pipelines.states.columns import FIRST_EVENT, FRAME, LAST_EVENT, ORDINAL, SOURCE_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.bound import Bound

_TYPED = "muntin_typed"


def bound_types(bound: Bound, known: Mapping[str, pa.Schema | None], pieces: Sequence[Sequence[str]]) -> dict[str, dict[str, str]]:
    """For each frame set's table the SQL type of its columns: as in the state, else as the first files with rows say.

    Where a batch with a contradiction waits, files with one are passed over; if all have one, the state says the types.

    Raises:
        SourceError: a file cannot be read, or the event time's column is missing or no time.
        DefinitionError: an aggregate, the filter or a key does not fit the columns, or SQL is more than an expression.
    """
    session = kept_session(bound.source.timezone)
    let_read(session, chain(*pieces))
    check_sql(bound)
    try:
        with asked_once(pieces[0]):
            return _bound_types(session, bound, known, pieces)
    except (duckdb.Error, SourceError, DefinitionError) as wrong:
        told = explained(wrong, pieces[0]) if isinstance(wrong, duckdb.Error) else wrong
        if bound.source.blank:  # no row had a part in it
            raise told from wrong
        with suppress(FileNotFoundError):  # gone since it was listed
            if types := _of_good_rows(session, bound, known, pieces):
                return types
        first, before = first_with_rows(session, bound, pieces), noted(bound.folder, bound.source.member)
        found = contradictions(session, bound, before, first)
        if found and waits(bound):
            return _of_others(session, bound, known, pieces, before)
        raise contradicted(with_odd_cells(session, bound, first, told), found) from wrong


def _of_others(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    known: Mapping[str, pa.Schema | None],
    pieces: Sequence[Sequence[str]],
    before: Mapping[str, str],
) -> dict[str, dict[str, str]]:
    """As `bound_types`, of the files without a contradiction; if there are none, of the state."""
    others = [piece for piece in pieces if not contradictions(session, bound, before, piece)]
    if others:
        return bound_types(bound, known, others)
    return {table: {} if schema is None else _described(session, schema) for table, schema in known.items()}


def _described(session: duckdb.DuckDBPyConnection, schema: pa.Schema) -> dict[str, str]:
    session.register("muntin_known", schema.empty_table())
    return described(session, "FROM muntin_known")


def _of_good_rows(
    session: duckdb.DuckDBPyConnection, bound: Bound, known: Mapping[str, pa.Schema | None], pieces: Sequence[Sequence[str]]
) -> dict[str, dict[str, str]] | None:
    """As `bound_types`, of the first files that have rows when bad rows and files are left out; None if they have none of these.

    Where no file has a row left, no state has a type. A definition that no file fits is wrong, and not the files.
    """
    bad = misfit = False
    for piece in pieces:
        with fitting(session, bound, piece) as (of_copies, files):
            bad, misfit = bad or files.differ or files.has_no_row_left, misfit or bool(files.misfits)
            if files.has_no_row_left:
                continue
            if not bad:
                return None
            try:
                return _bound_types(session, of_copies, known, [files.paths])
            except MuntinError as wrong:
                raise type(wrong)(files.named(str(wrong))) from wrong
    return {frames.table: {} for frames in bound.frame_sets} if bad and not misfit else None


def _bound_types(
    session: duckdb.DuckDBPyConnection, bound: Bound, known: Mapping[str, pa.Schema | None], pieces: Sequence[Sequence[str]]
) -> dict[str, dict[str, str]]:
    paths = first_with_rows(session, bound, pieces)
    files = scan(bound.source, paths, read_as(session, bound.source, paths))
    columns = described(session, f"FROM {files}")
    event_time(bound.source, columns)
    check_times(session, bound.source, columns, paths)
    rows = _without_rows(session, f"({staged(bound.source, files, columns, ordinal=True)})")
    _check_keys(bound, columns)
    _check_where(session, bound, rows, columns)
    check_aggregates(session, bound, rows, columns)
    _check_windows(session, bound, rows, columns)
    _check_derived(session, bound, rows, columns)
    return {frames.table: _types(session, bound, frames, rows, columns, known.get(frames.table)) for frames in bound.frame_sets}


def _without_rows(session: duckdb.DuckDBPyConnection, rows: str) -> str:
    """A table with the same columns and no row: to bind SQL to it opens no file."""
    session.execute(f"CREATE OR REPLACE TEMP TABLE {_TYPED} AS FROM {rows} LIMIT 0")
    return _TYPED


def _types(
    session: duckdb.DuckDBPyConnection, bound: Bound, frames: FrameSet, rows: str, columns: Mapping[str, str], known: pa.Schema | None
) -> dict[str, str]:
    here = {
        name: stored_type(kind)
        for name, kind in described(session, states(bound.pipeline, bound.fields, frames, rows, Taken(0), columns)).items()
    }
    if known is None:
        return here
    before = _described(session, known)
    ours = {FRAME, FIRST_EVENT, LAST_EVENT, ORDINAL, *(column for each in bound.fields if each.seal for column in each.lifts)}
    return {name: kind if name in ours else before.get(name, kind) for name, kind in here.items()}


def _check_keys(bound: Bound, columns: Mapping[str, str]) -> None:
    for key in bound.pipeline.keys:
        if key not in columns:
            near = did_you_mean(key, columns)
            raise DefinitionError(f"keys: no column {key!r} in the source; there are {', '.join(columns)}{near}")
        if is_nested(columns[key]):
            raise DefinitionError(
                f"keys: {key!r} is {columns[key]}; a key is a plain value. Give the source a column with the part that tells windows "
                f"apart, or with the whole as text. The source has: {_listed(columns)}"
            )


def _check_where(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Mapping[str, str]) -> None:
    if bound.pipeline.where:
        _try(session, f"SELECT 1 FROM {rows} WHERE {bound.pipeline.where}", f"where: {bound.pipeline.where!r}", columns)


def check_aggregates(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Mapping[str, str]) -> None:
    """See that the aggregates that take rows of the source fit its columns.

    Args:
        session: of DuckDB.
        bound: the definition.
        rows: SQL for rows, as `staged` gives them.
        columns: name -> SQL type of the source's columns.

    Raises:
        DefinitionError: an aggregate does not fit.
    """
    for name, aggregate in bound.own_aggregates.items():
        what = f"aggregates[{name!r}]: {aggregate}"
        for field in aggregate.fields:
            for lift in lifts_sql(field).values():
                _try(session, f"SELECT {lift} AS {quoted(name)} FROM {rows} AS {SOURCE_ROWS}", what, columns)
            for expression, need in asked_of(field):
                _check_need(session, expression_sql(expression), need, rows, what, columns)


def _check_windows(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Mapping[str, str]) -> None:
    for name, window in bound.windows.items():
        if isinstance(window.made_of, RowStates):
            for lift in window.made_of.lifts.values():
                _try(session, f"SELECT {lift} AS {quoted(name)} FROM {rows}", f"windows[{name!r}]", columns)
            for sql, need in window.made_of.needs:
                _check_need(session, sql, need, rows, f"windows[{name!r}]", columns)


def _check_need(session: duckdb.DuckDBPyConnection, sql: str, need: str, rows: str, what: str, columns: Mapping[str, str]) -> None:
    """Refuse an expression whose type is not what it must be."""
    kind = _try(session, f"SELECT ({sql}) AS it FROM {rows} AS {SOURCE_ROWS}", what, columns)["it"]
    if not meets(kind, need):
        raise DefinitionError(f"{what} needs {NEEDS[need]}, and {sql!r} is {kind}. The source has: {_listed(columns)}")


def _check_derived(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Mapping[str, str]) -> None:
    if not bound.pipeline.derive:
        return
    from pipelines.jobs.shards.derived_columns import check_derived

    for frames in bound.frame_sets:
        none = sealed(stored(session, f"{states(bound.pipeline, bound.fields, frames, rows, Taken(0), columns)} LIMIT 0"), bound.fields)
        for window in frames.windows:
            check_derived(bound, window, none)


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _try(session: duckdb.DuckDBPyConnection, query: str, what: str, columns: Mapping[str, str]) -> dict[str, str]:
    try:
        return described(session, query)
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        unknown = re.search(r'column "(.+?)" not found', str(wrong))
        near = did_you_mean(unknown[1], columns) if unknown else ""
        raise DefinitionError(f"{what} does not fit the source: {said(wrong)}. The source has: {_listed(columns)}{near}") from wrong
    except duckdb.Error as wrong:
        raise SourceError(f"{what}: {wrong}") from wrong
