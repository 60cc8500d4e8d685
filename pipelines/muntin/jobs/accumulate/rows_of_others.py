"""The definition over one of several sources: aggregates of other sources take no row, and keep what their
lifts make of no rows.

sources    clicks: user, page          orders: user, amount
states     user  frame  rows  count(page) of clicks  sum(amount) of orders
           a     10:00     2                      2                      0     of a split of clicks
           a     10:00     1                      0                   9.50     of a split of orders

No rows of a source have its columns and their types, so that all splits have states with the same columns.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import duckdb

from muntin.errors import MuntinError, SourceError
from muntin.jobs.inputs.listings.listing import listing
from muntin.jobs.inputs.listings.of_several import telling
from muntin.jobs.schema_check.definition_fit import check_aggregates
from muntin.jobs.schema_check.definition_sql import check_sql
from muntin.jobs.schema_check.first_files import columns_of, first_with_rows
from muntin.jobs.schema_check.fitting_files import fitting
from muntin.jobs.schema_check.source_columns import bound_types
from muntin.jobs.state.source_note import noted
from muntin.sources.reading.row_times import without_rows
from muntin.sources.sessions.duckdb_session import kept_session
from muntin.sources.sessions.object_files import let_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.aggregates.aggregate import Field
    from muntin.jobs.state.bound import Bound

    Pieces = Sequence[Sequence[str]]  # paths of the files of each split


def lifting(members: Mapping[str, Bound], pieces: Mapping[str, Pieces]) -> dict[str, Bound]:
    """Name of a source -> the definition over it, by which its rows are lifted; an error if its columns are
    unknown.

    `pieces`: name -> paths of the files of each of its splits; none where the source has no files.
    """
    nothing = {}
    for name, member in members.items():
        with telling(name):
            check_sql(member)
            nothing[name] = _no_rows(member, pieces[name])
    return {name: replace(member, lifted=tuple(_lifted(member, nothing))) for name, member in members.items()}


def _lifted(bound: Bound, nothing: Mapping[str, str]) -> list[Field]:
    own = {field.stem for field in _own_fields(bound)}
    return [
        each if each.stem in own else replace(each, nothing=nothing[each.source]) for each in bound.fields
    ]


def _own_fields(bound: Bound) -> tuple[Field, ...]:
    member = bound.source.member
    return tuple(each for each in bound.fields if each.source in ("", member and member.name))


def _no_rows(bound: Bound, pieces: Pieces) -> str:
    """SQL for no rows of a source, with columns that its aggregates fit."""
    session = kept_session(bound.source.timezone)
    let_read(session, bound.source, chain(*pieces))
    for columns in _columns(session, bound, pieces):
        with suppress(duckdb.Error, MuntinError):
            rows = without_rows(bound.source, columns)
            check_aggregates(session, bound, rows, columns)
            return rows
    if pieces or bound.source.blank:  # what is wrong is reported of the files
        own = replace(
            bound,
            pipeline=replace(bound.pipeline, aggregates=bound.pipeline.row_aggregates),
            lifted=_own_fields(bound),
        )
        bound_types(own, {frames.table: None for frames in bound.frame_sets}, pieces or [[]])
    used = ", ".join(repr(each.of) for each in _own_fields(bound) if each.of)
    raise SourceError(
        "no file of it was found, so nobody knows the types of its columns; run the pipeline over an"
        f" interval with a file of it, or say the types of {bound.source.event_time!r} and of all columns in"
        f" {used or 'its aggregates'}, as types={{...: 'BIGINT'}}"
    )


def _columns(session: duckdb.DuckDBPyConnection, bound: Bound, pieces: Pieces) -> Iterator[dict[str, str]]:
    """Name -> SQL type of the columns: of earlier batches; of the files at hand; of these without bad rows;
    of the first files at all.
    """
    noted_columns = {**noted(bound.folder, bound.source.member), **bound.source.types}
    yield noted_columns
    yield {**_of_files(session, bound, pieces), **noted_columns}
    for piece in pieces:
        with (
            suppress(duckdb.Error, MuntinError, OSError),
            fitting(session, bound, piece) as (of_copies, files),
        ):
            if not files.has_no_row_left:
                yield {**columns_of(session, of_copies, files.paths), **noted_columns}
    if not pieces and not bound.source.blank:
        first = listing(bound.source).first_inputs(bound)
        yield {
            **_of_files(
                session,
                first.of(bound),
                [[each.path for each in files] for files in first.files.values() if files],
            ),
            **noted_columns,
        }


def _of_files(session: duckdb.DuckDBPyConnection, bound: Bound, pieces: Pieces) -> dict[str, str]:
    """The columns of the first files with rows; {} where there are no files, or they cannot be read."""
    if not pieces and not bound.source.blank:
        return {}
    with suppress(duckdb.Error, MuntinError, OSError):
        return columns_of(session, bound, first_with_rows(session, bound, pieces))
    return {}
