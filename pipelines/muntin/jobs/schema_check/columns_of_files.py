"""Whether each file of a batch has the columns that the definition uses.

Files are read together by the names of their columns, so that a number may be an integer in a file and a
double in another file. A column that a file lacks would be null in all of its rows. That is an error, as it
is where the file is alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import permutations

import duckdb
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.readable import readable_footer
from muntin.jobs.state.bound import Bound
from muntin.sources.casts import carried
from muntin.sources.nested_types import element, lacking, map_types, members, struct
from muntin.sources.reading.lift import states
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.row_times import staged
from muntin.sources.reading.scan import quoted, scan, texts
from muntin.sources.reading.sql_types import common_type, stored_type
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.source import Source

_UNKNOWN = re.compile(r'column "(.+?)" not found')
_FLOATS = ("FLOAT", "DOUBLE")
_FLOAT = re.compile(r"FLOAT[48]?|REAL|DOUBLE", re.IGNORECASE)
_INTEGERS = ("INTEGER", "BIGINT", "HUGEINT", "UINTEGER", "UBIGINT")
Columns = dict[str, str]  # name -> SQL type


def check_files(
    session: duckdb.DuckDBPyConnection, bound: Bound, together: Mapping[str, str], paths: Sequence[str]
) -> None:
    """Refuse files that lack a column, or a member of a struct, that other files of their batch have and the
    definition uses.

    And files with whole numbers that would be rounded, as other files of their batch have doubles in their
    place. `together`: name -> SQL type of the columns of all files, read by name. `paths`: of the files that
    hold rows.
    """
    unused: set[str] = set()
    distinct = [*_distinct(session, bound.source, paths)] if len(paths) > 1 and not bound.source.blank else []
    for path, name, number, kind in _rounded(session, bound.source, distinct, paths):
        if not binds(
            session, bound, {other: each for other, each in together.items() if other.lower() != name.lower()}
        ):
            raise SourceError(
                f"{path}: {name!r} holds {number}, and other files of its batch make it a {kind}, which does"
                " not hold this number; "
                f'write the column in one type, or say types={{"{name}": "DOUBLE"}} in sources.files(...),'
                " which rounds it"
            )
    _check_common(session, bound, together, distinct)
    for path, own in distinct:
        for name, rest in _lacking(together, own):
            if name not in unused and not binds(session, bound, rest):
                raise SourceError(
                    f"{path}: no column {name!r}, which the definition uses and other files of its batch"
                    " have; write the file with that column, null where it is not known"
                )
            unused.add(name)


def _check_common(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    together: Mapping[str, str],
    distinct: Sequence[tuple[str, Columns]],
) -> None:
    """Refuse files with a column of two types that have no common type. DuckDB would make texts of both."""
    for name in together if bound.source.format == "parquet" else ():
        kinds = [
            (path, each)
            for path, own in distinct
            for other, each in own.items()
            if other.lower() == name.lower()
        ]
        for path, kind in (
            kinds if name not in bound.source.types and len({kind for _, kind in kinds}) > 1 else ()
        ):
            first, before = kinds[0]
            contradicts = common_type(stored_type(carried(before)), stored_type(carried(kind))) is None
            if contradicts and not binds(
                session, bound, {other: each for other, each in together.items() if other != name}
            ):
                raise SourceError(
                    f"{path}: {name!r} is {kind} here and {before} in {first}, a file of the same batch; "
                    f'write the column in one type, or say types={{"{name}": "VARCHAR"}} in'
                    " sources.files(...)"
                )


def _distinct(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str]
) -> Iterator[tuple[str, Columns]]:
    """The columns of every file; of files of Parquet with equal columns, the columns of the first."""
    plain, seen = replace(source, types={}), set()
    for path in paths:
        if source.format == "parquet":
            schema = str(pq.read_schema(readable_footer(path)).remove_metadata())
            if schema in seen:
                continue
            seen.add(schema)
        yield path, described(session, f"FROM {scan(plain, [path])}")


def _rounded(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    distinct: Sequence[tuple[str, Columns]],
    paths: Sequence[str],
) -> Iterator[tuple[str, str, str, str]]:
    """Path, column, a value and the type in other files, of each file with a whole number that this type does
    not hold.

    Other formats than Parquet are read as `types=` says, whatever their files hold.
    """
    kinds: dict[str, dict[str, str]] = {}
    for _, own in distinct:
        for name, kind in own.items():
            kinds.setdefault(name.lower(), {}).setdefault(kind, name)
    for small, names_by_kind in kinds.items():
        name = next(iter(names_by_kind.values()))
        said = name in source.types and (source.format != "parquet" or _FLOAT.fullmatch(source.types[name]))
        if said or all(with_floats(one, other) == one for one, other in permutations(names_by_kind, 2)):
            continue
        for path in paths:
            rows = f"FROM {scan(replace(source, types={}), [path])}"
            value = quoted(name)
            own = {other.lower(): each for other, each in described(session, rows).items()}
            kind = own.get(small, "")
            if (wide := reduce(with_floats, sorted(names_by_kind), kind)) != kind:
                where = f"TRY_CAST({value}::{wide} AS {kind}) IS DISTINCT FROM {value}"
                for (text,) in session.execute(
                    f"SELECT {value}::VARCHAR {rows} WHERE {where} LIMIT 1"
                ).fetchall():
                    yield path, name, text, wide


def with_floats(kind: str, other: str) -> str:
    """A type with the floats of another type in the place of its large integers, as DuckDB reads files with
    both.

    >>> with_floats("STRUCT(a BIGINT[], b BIGINT)", "STRUCT(b DATE, a DOUBLE[])")
    'STRUCT(a DOUBLE[], b BIGINT)'
    """
    if (inner := element(kind)) and (there := element(other)):
        return f"{with_floats(inner, there)}[]"
    if kind.startswith("STRUCT(") and other.startswith("STRUCT("):
        types_there = {name.lower(): of for name, of in members(other)}
        return struct(
            [(name, with_floats(of, types_there.get(name.lower(), of))) for name, of in members(kind)]
        )
    if kind.startswith("MAP(") and other.startswith("MAP("):
        return f"MAP({', '.join(map(with_floats, map_types(kind), map_types(other)))})"
    return other if kind in _INTEGERS and other in _FLOATS else kind


def _lacking(together: Mapping[str, str], own: Columns) -> Iterator[tuple[str, Columns]]:
    """The missing parts of a file, piece by piece: its name, and all columns without it."""
    mine = {name.lower(): kind for name, kind in own.items()}
    for name, kind in together.items():
        if name.lower() not in mine:
            yield name, {other: each for other, each in together.items() if other != name}
            continue
        for member, rest in lacking(kind, mine[name.lower()]):
            yield f"{name}.{member}", {**together, name: rest}


def lacking_files(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str]
) -> dict[str, list[str]]:
    """Each column that files may lack and some of these files do -> their paths.

    A file of JSON lines has no columns of its own.
    """
    if not source.columns or source.format == "json":
        return {}
    names = {path: _names(session, source, path) for path in paths}
    files_without = {
        column: [path for path in paths if column not in names[path]] for column in source.columns
    }
    return {column: without for column, without in files_without.items() if without}


def _names(session: duckdb.DuckDBPyConnection, source: Source, path: str) -> Collection[str]:
    if source.format == "parquet":
        if source.numbered:
            from muntin.sources.logged.numbered_fields import selected

            if by_number := selected(source.numbered, path):
                return [name for _, name in by_number]
        return pq.read_schema(readable_footer(path)).names
    return described(session, f"FROM {texts(replace(source, columns={}), path)}")


def missing_column(session: duckdb.DuckDBPyConnection, bound: Bound, columns: Columns) -> str | None:
    """The name of a column that the definition uses and that is not there; None if there is none."""
    source = bound.source
    named = (
        source.event_time,
        *bound.pipeline.keys,
        source.arrival_order,
        source.arrival_time,
        *source.types,
        *source.dedupe,
    )
    there = columns
    if source.lookups:
        from muntin.sources.reading.dimension import with_keys

        there = with_keys(source, columns)
    for name in named:
        if name and name not in there:
            return name
    try:
        _bind(session, bound, columns)
    except duckdb.BinderException as wrong:
        match = _UNKNOWN.search(str(wrong))
        return match[1] if match else None
    except SourceError:
        return None
    return None


def binds(session: duckdb.DuckDBPyConnection, bound: Bound, columns: Columns) -> bool:
    """Whether the definition can do with some columns."""
    try:
        _bind(session, bound, columns)
    except (duckdb.BinderException, SourceError):
        return False
    return True


def _bind(session: duckdb.DuckDBPyConnection, bound: Bound, columns: Columns) -> None:
    none = ", ".join(
        ["NULL AS muntin_none", *(f"NULL::{kind} AS {quoted(name)}" for name, kind in columns.items())]
    )
    rows = f"({staged(bound.source, f'(SELECT {none})', columns, ordinal=True)})"
    for frames in bound.frame_sets:
        described(session, states(bound.pipeline, bound.fields, frames, rows, Taken(0), columns))
