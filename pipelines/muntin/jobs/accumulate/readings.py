"""The reading of each source of a pipeline: its splits, the types of their states, and the definition for
their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError
from muntin.jobs.accumulate.rows_of_others import lifting
from muntin.jobs.accumulate.shares import split_batch
from muntin.jobs.inputs.listings.of_several import telling
from muntin.jobs.schema_check.first_files import first_columns
from muntin.jobs.schema_check.source_columns import bound_types
from muntin.jobs.state.source_note import noted
from muntin.sources.common_types import common_type
from muntin.states.columns import BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from muntin.jobs.accumulate.shares import Split
    from muntin.jobs.inputs.listings.listing import Inputs
    from muntin.jobs.state.bound import Bound

    Types = Mapping[str, Mapping[str, str]]  # table of a frame set -> column -> SQL type


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of one source.

    Attributes:
        bound: the definition over this source.
        splits: of all its batches.
        types: table of a frame set -> column -> SQL type of the states; the same for all sources.
        columns: name -> SQL type of the source's columns in earlier batches.
    """

    bound: Bound
    splits: Sequence[Split]
    types: Types
    columns: Mapping[str, str]


def readings(bound: Bound, given: Inputs, schemas: Mapping[str, pa.Schema | None]) -> list[Reading]:
    """The reading of each source; none of a source without files. An error if the types of two sources
    contradict.

    `schemas`: table of a frame set -> the columns of its states so far; None: there are none.
    """
    parts = parts_of(bound, given)
    splits = {name: _splits(each, part) for name, (each, part) in parts.items()}
    paths = {
        name: list(dict.fromkeys(split.paths for split in source_splits))
        for name, source_splits in splits.items()
    }
    read = [name for name, source_paths in paths.items() if source_paths]
    if not read:
        return []
    bounds = bounds_of(parts, paths)
    types = common_types({name: types_of(bounds[name], schemas, paths[name]) for name in read})
    return [Reading(bounds[name], splits[name], types, _known(bounds[name], paths[name])) for name in read]


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


def _splits(bound: Bound, given: Inputs) -> list[Split]:
    watermarks_us = given.watermarks_us
    each = (
        split_batch(bound, interval, files, watermarks_us.get(interval.start_us))
        for interval, files in given.files.items()
    )
    return [split for splits in each for split in splits]


def types_of(bound: Bound, schemas: Mapping[str, pa.Schema | None], paths: Sequence[Sequence[str]]) -> Types:
    """The types as `bound_types` gives them; an error names the source among several."""
    if bound.source.member is None:
        return bound_types(bound, schemas, paths)
    with telling(bound.source.member.name):
        return bound_types(bound, schemas, paths)


def _known(bound: Bound, paths: Sequence[Sequence[str]]) -> Mapping[str, str]:
    return noted(bound.folder, bound.source.member) or first_columns(bound, paths)


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
