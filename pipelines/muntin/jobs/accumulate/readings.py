"""The splits of each source of a pipeline, the types of their states, and the definition over its rows.

Of several sources, aggregates of other sources take no row, and keep what their lifts make of no rows:

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
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.accumulate.shares import split_batch
from muntin.jobs.inputs.listings.listing import listing
from muntin.jobs.inputs.listings.of_several import telling
from muntin.jobs.schema_check.definition_fit import check_aggregates
from muntin.jobs.schema_check.first_files import columns_of, first_columns, first_with_rows
from muntin.jobs.schema_check.source_columns import bound_types, check_sql
from muntin.jobs.state.source_note import noted
from muntin.sources.reading.row_times import without_rows
from muntin.sources.reading.scan import nulls
from muntin.sources.reading.sql_types import common_type
from muntin.sources.sessions.duckdb_session import described, kept_session
from muntin.sources.sessions.listed_files import let_read
from muntin.states.columns import BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from muntin.jobs.accumulate.shares import Split
    from muntin.jobs.inputs.listings.listing import Inputs
    from muntin.jobs.state.bound import Bound
    from muntin.sources.source import Columns

    Types = Mapping[str, Columns]  # table of a frame set -> column -> SQL type
    from collections.abc import Iterator, Mapping

    from muntin.aggregates.aggregate import Field

    Pieces = Sequence[Sequence[str]]  # paths of the files of each split


class SourceSplits(NamedTuple):
    """The splits of one source, and how they are read.

    Attributes:
        bound: the definition over this source.
        splits: of all its batches.
        types: table of a frame set -> column -> SQL type of the states; the same for all sources.
        columns: name -> SQL type of the source's columns in earlier batches.
    """

    bound: Bound
    splits: Sequence[Split]
    types: Types
    columns: Columns


def readings(bound: Bound, given: Inputs, schemas: Mapping[str, pa.Schema | None]) -> list[SourceSplits]:
    """The splits of each source; none of a source without files. An error if the types of two sources
    contradict.

    `schemas`: table of a frame set -> the columns of its states so far; None: there are none.
    """
    parts = parts_of(bound, given)
    splits = {
        name: [
            split
            for interval, files in part.files.items()
            for split in split_batch(each, interval, files, part.watermarks_us.get(interval.start_us))
        ]
        for name, (each, part) in parts.items()
    }
    paths = {
        name: list(dict.fromkeys(split.paths for split in source_splits))
        for name, source_splits in splits.items()
    }
    read = [name for name, source_paths in paths.items() if source_paths]
    if not read:
        return []
    bounds = bounds_of(parts, paths)
    types = common_types({name: types_of(bounds[name], schemas, paths[name]) for name in read})
    columns = {
        name: noted(bounds[name].folder, bounds[name].source.member)
        or first_columns(bounds[name], paths[name])
        for name in read
    }
    return [SourceSplits(bounds[name], splits[name], types, columns[name]) for name in read]


def parts_of(bound: Bound, given: Inputs) -> dict[str, tuple[Bound, Inputs]]:
    """Name of a source -> the definition over it, and its files; "" where it is the only source."""
    if not given.parts:
        return {"": (given.of(bound), given)}
    members = bound.members
    return {name: (part.of(members[name]), part) for name, part in given.parts.items()}


def bounds_of(
    parts: Mapping[str, tuple[Bound, Inputs]], paths: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, Bound]:
    """Name of a source -> the definition by which its rows are lifted.

    `paths`: name -> paths of the files of each split.
    """
    bounds = {name: bound for name, (bound, _) in parts.items()}
    return bounds if "" in bounds else lifting(bounds, paths)


def types_of(bound: Bound, schemas: Mapping[str, pa.Schema | None], paths: Sequence[Sequence[str]]) -> Types:
    """The types as `bound_types` gives them; an error names the source among several."""
    if bound.source.member is None:
        return bound_types(bound, schemas, paths)
    with telling(bound.source.member.name):
        return bound_types(bound, schemas, paths)


def common_types(of_sources: Mapping[str, Types]) -> Types:
    """The types that states of all sources have; DefinitionError if they contradict.

    Where all files of a source wait, its types are the types of the state, with the columns of a checkpoint.
    Other sources say more.
    """
    told_by_files = {
        name: tables
        for name, tables in of_sources.items()
        if not any(BATCH in types for types in tables.values())
    }
    types_of_tables: dict[str, dict[str, str]] = {}
    source_of_column: dict[tuple[str, str], str] = {}
    for name, tables in (told_by_files or of_sources).items():
        for table, types in tables.items():
            table_types = types_of_tables.setdefault(table, {})
            for column, kind in types.items():
                wide = common_type(table_types.get(column, kind), kind)
                if wide is None:
                    raise DefinitionError(
                        f"{column} is {table_types[column]} in source {source_of_column[table, column]!r} and"
                        f" {kind} in {name!r}; give both one type, by types={{...}} in one of the sources, or"
                        " by a cast in the aggregate"
                    )
                table_types[column] = wide
                source_of_column.setdefault((table, column), name)
    return types_of_tables


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
    bounds = {}
    for name, member in members.items():
        own = {field.stem for field in _own_fields(member)}
        lifted = (
            each if each.stem in own else replace(each, nothing=nothing[each.source])
            for each in member.fields
        )
        bounds[name] = replace(member, lifted=tuple(lifted))
    return bounds


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
            # bound with each query of other sources: only what lifts may use, without the SQL of times
            kinds = {
                name: kind
                for name, kind in described(session, rows).items()
                if name not in columns or bound.may_use(name)
            }
            rows = f"(SELECT {nulls(kinds)} WHERE false)"
            check_aggregates(session, bound, rows, columns)
            return rows
    if pieces or bound.source.blank:  # what is wrong is reported of the files
        pipeline = replace(bound.pipeline, aggregates=bound.pipeline.row_aggregates)
        own = replace(bound, pipeline=pipeline, lifted=_own_fields(bound))
        bound_types(own, {frames.table: None for frames in bound.frame_sets}, pieces or [[]])
    used = ", ".join(repr(each.of) for each in _own_fields(bound) if each.of)
    raise SourceError(
        "no file of it was found, so nobody knows the types of its columns; run the pipeline over an"
        f" interval with a file of it, or say the types of {bound.source.event_time!r} and of all columns in"
        f" {used or 'its aggregates'}, as types={{...: 'BIGINT'}}"
    )


def _columns(session: duckdb.DuckDBPyConnection, bound: Bound, pieces: Pieces) -> Iterator[dict[str, str]]:
    """Name -> SQL type: of earlier batches; of files at hand; of these without bad rows; of first files."""
    from muntin.jobs.schema_check.fitting_files import fitting

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
        paths = [[each.path for each in files] for files in first.files.values() if files]
        yield {**_of_files(session, first.of(bound), paths), **noted_columns}


def _of_files(session: duckdb.DuckDBPyConnection, bound: Bound, pieces: Pieces) -> dict[str, str]:
    """The columns of the first files with rows; {} where there are no files, or they cannot be read."""
    if not pieces and not bound.source.blank:
        return {}
    with suppress(duckdb.Error, MuntinError, OSError):
        return columns_of(session, bound, first_with_rows(session, bound, pieces))
    return {}
