"""The type of each column of a source's files: the type that the definition says, that a file declares, or
that all of its cells have.

DuckDB tells the types once, and is told them again with each reading. Numbers of text files are read as texts
where their type might not have them as they are written, and so are texts of JSON lines: DuckDB takes texts
for times and identifiers, and writes them anew.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from muntin.errors import SourceError
from muntin.sources.casts import WITH_ZONE, carried, is_carried_as_it_is, is_rounded, read_before
from muntin.sources.nested_types import is_nested, leaves, members, of_leaves
from muntin.sources.reading.scan import (
    UNTOLD,
    ReadAs,
    files_sql,
    nulls,
    quoted,
    read_types,
    said_types,
    scan,
)
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.sessions.plain_text import answered_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.source import Columns, Source, Used

_TIMES = ("TIMESTAMP", "DATE")
# texts that DuckDB takes for these lose capitals, or gain seconds
_WRITTEN_ANEW = ("UUID", "TIME", "TIME WITH TIME ZONE")
_FRACTIONS = {"DOUBLE", "JSON"}
_AT_ONCE = 1000  # lines
_FROM_TEXTS = (*_TIMES, "TIME", "UUID")
# how DuckDB names the second of two columns whose names differ in case only
_NUMBERED = re.compile(r"(.+)_\d+")


class FileColumns(NamedTuple):
    """The columns of files: how they are read, and name -> SQL type of what is read."""

    read_as: ReadAs
    columns: dict[str, str]


def column_types(
    session: DuckDBPyConnection,
    source: Source,
    paths: Sequence[str],
    used: Used,
    *,
    declared: bool = True,
) -> FileColumns:
    """The types of the columns of files, and how they are read.

    `declared`: whether to see what Parquet's writers declared, which is a question more for each file.
    """
    if source.format == "parquet":
        types = described(session, f"FROM {scan(source, paths)}")
        if declared:
            from muntin.sources.reading.footers import check_declared

            check_declared(session, source, types, paths, used)
        looked_at = _looked_at(source, types, used)
        ours = _ours(types, used)
        columns = types | {name: carried(kind) for name, kind in looked_at.items()}
        return FileColumns(
            ReadAs({}, looked_at, ours), {name: kind for name, kind in columns.items() if name not in ours}
        )
    read_as = _of_text(session, source, paths, used) if source.format in ("csv", "json") else UNTOLD
    rows = f"FROM {scan(source, paths, read_as)}"
    return FileColumns(read_as, {**answered_once(rows, paths, lambda: described(session, rows))})


def _of_text(session: DuckDBPyConnection, source: Source, paths: Sequence[str], used: Used) -> ReadAs:
    plain = replace(source, types={}, columns={}, hive={})
    rows = f"FROM {scan(plain, paths)}"
    guessed = answered_once(rows, paths, lambda: described(session, rows))
    if source.format == "json":
        guessed = guessed | _of_both_signs(
            session, plain, paths, {name: kind for name, kind in guessed.items() if used(name)}
        )
    column_types = {
        name: of_leaves(kind, lambda leaf: "VARCHAR" if leaf in _WRITTEN_ANEW else leaf)
        for name, kind in guessed.items()
    }
    if source.format == "csv" and source.unit:  # a double has fewer digits than a time may be written with
        times = {source.event_time, source.arrival_time} - {*source.types}
        column_types |= {
            name: "VARCHAR" for name, kind in guessed.items() if name in times and kind == "DOUBLE"
        }
    looked_at = _looked_at(source, column_types, used)
    if source.format == "json":
        renamed = _check_names(session, source, column_types, paths, used)
        column_types = {name: kind for name, kind in column_types.items() if name not in renamed}
    types = {
        name: read_before(kind, source.format) if name in looked_at else kind
        for name, kind in column_types.items()
    }
    said = _of_json(session, source, column_types) if source.format == "json" else read_types(source)
    if source.format == "csv":
        texts = [name for name, kind in column_types.items() if kind == "VARCHAR" and used(name)]
        looked_at |= dict.fromkeys(_empty(session, source, paths, ReadAs(types | said), texts), '"NULL"')
        declared = {name.lower() for name in source.columns}
        said |= {name: "VARCHAR" for name in column_types if name.lower() in declared}
    exact = [
        name
        for name, kind in column_types.items()
        if used(name) and not is_rounded(source.types.get(name)) and _FRACTIONS & {*leaves(kind)}
    ]
    return ReadAs(
        types | said, looked_at, _ours(column_types, used), exact if source.format == "json" else ()
    )


def _of_both_signs(
    session: DuckDBPyConnection, source: Source, paths: Sequence[str], guessed: Columns
) -> dict[str, str]:
    """The columns of JSON that are BIGINT though DuckDB guessed HUGEINT, as it does where some numbers are
    negative and some are not: a refund would make decimals of a column of results.
    """
    huge = {name: kind for name, kind in guessed.items() if "HUGEINT" in leaves(kind)}
    if not huge:
        return {}
    small = {
        name: of_leaves(kind, lambda leaf: "BIGINT" if leaf == "HUGEINT" else leaf)
        for name, kind in huge.items()
    }
    fit = ", ".join(
        f"bool_and({quoted(name)} IS NOT DISTINCT FROM try_cast({quoted(name)} AS {kind}))"
        for name, kind in small.items()
    )
    query = f"SELECT {fit} FROM {scan(source, paths, ReadAs(huge))}"
    fits = answered_once(query, paths, lambda: session.execute(query).fetchall()[0])
    return {name: kind for (name, kind), all_fit in zip(small.items(), fits, strict=True) if all_fit}


def _empty(
    session: DuckDBPyConnection,
    source: Source,
    paths: Sequence[str],
    read_as: ReadAs,
    names: Sequence[str],
) -> list[str]:
    """The columns of CSV without any value, of some columns: they have no type yet."""
    typed_names = (*said_types(source), source.event_time, source.arrival_time)
    names = [name for name in names if name not in typed_names]
    if not names:
        return []
    rows = scan(replace(source, types={}, columns={}, hive={}), paths, read_as)
    counts = ", ".join(f"count({quoted(name)})" for name in names)
    (value_counts,) = session.execute(f"SELECT {counts} FROM (FROM {rows} LIMIT {_AT_ONCE})").fetchall()
    few = [name for name, count in zip(names, value_counts, strict=True) if not count]
    return [
        name
        for name in few
        if not session.execute(f"SELECT 1 FROM {rows} WHERE {quoted(name)} IS NOT NULL LIMIT 1").fetchall()
    ]


def _ours(column_types: Columns, used: Used) -> tuple[str, ...]:
    """The columns that have names of ours. A definition that uses such a column is refused."""
    muntin_names = tuple(name for name in column_types if name.lower().startswith("muntin_"))
    if wanted := [name for name in muntin_names if used(name)]:
        raise SourceError(
            f"column {wanted[0]!r}: names that begin with muntin_ are Muntin's own; rename it in the source"
        )
    return muntin_names


def _looked_at(source: Source, column_types: Columns, used: Used) -> dict[str, str]:
    """The columns whose values may not fit the type in which states have them."""
    said = said_types(source)
    times = (source.event_time, source.arrival_time)
    odd = {
        name: kind
        for name, kind in column_types.items()
        if name not in said and not is_carried_as_it_is(kind, source.format)
    }
    return {
        name: kind for name, kind in odd.items() if used(name) and (name not in times or kind == WITH_ZONE)
    }


def _of_json(session: DuckDBPyConnection, source: Source, column_types: Columns) -> dict[str, str]:
    """Column -> SQL type in which JSON lines are read, where the definition says a type."""
    said = {name: kind for name, kind in said_types(source).items() if name in column_types}
    if not said:
        return {}
    spelled = described(session, f"SELECT {nulls(said)}")
    texts = {name: as_text(kind) if is_nested(kind) else "VARCHAR" for name, kind in column_types.items()}
    return {
        name: "JSON" if is_nested(kind) else texts[name] if kind == "VARCHAR" else "VARCHAR"
        for name, kind in spelled.items()
    }


def check_numbers(
    session: DuckDBPyConnection, source: Source, paths: Sequence[str], fractions: Sequence[str]
) -> None:
    """Refuse JSON lines with numbers that are no doubles, where the definition does not ask for doubles.

    `fractions`: as of `ReadAs`.
    """
    lines = _lines(source, paths)

    def check() -> None:
        from muntin.sources.exact_json import NO_DOUBLE, lost_number, may_have_lost

        suspect_lines = session.execute(
            f"SELECT line FROM (SELECT json::VARCHAR AS line FROM {lines}) WHERE {may_have_lost('line')}"
        )
        while some := suspect_lines.fetchmany(_AT_ONCE):
            for (line,) in some:
                if lost := lost_number(line, fractions.__contains__):
                    suspect_lines.fetchall()
                    raise SourceError(f"{', '.join(paths)}: {lost[0]} holds {lost[1]}, {NO_DOUBLE}")

    if fractions:
        answered_once(f"numbers of {[*fractions]} in {lines}", paths, check)


def _lines(source: Source, paths: Sequence[str]) -> str:
    return f"read_ndjson_objects({files_sql(source, paths)}, compression = 'none')"


def _check_names(
    session: DuckDBPyConnection,
    source: Source,
    column_types: Columns,
    paths: Sequence[str],
    used: Used,
) -> list[str]:
    """The names that DuckDB makes up for columns of JSON that differ from another only in capital letters."""
    small = {name.lower() for name in column_types}
    odd = [
        name for name in column_types if (match := _NUMBERED.fullmatch(name)) and match[1].lower() in small
    ]
    if not odd:
        return []
    query = f"SELECT DISTINCT unnest(json_keys(json)) FROM {_lines(source, paths)}"
    hidden = sorted({*odd} - {name for (name,) in session.execute(query).fetchall()})
    for name in hidden:
        if used(own := name.rpartition("_")[0]) or used(name):
            raise SourceError(
                f"{', '.join(paths)}: column {own!r} has the name of another, but for small and capital"
                " letters; rename it"
            )
    return hidden


def as_text(kind: str) -> str:
    """A type with a text wherever DuckDB may have guessed another type from texts.

    >>> as_text("STRUCT(id BIGINT, paid TIMESTAMP[])")
    'STRUCT(id BIGINT, paid VARCHAR[])'
    """
    return of_leaves(kind, lambda leaf: "VARCHAR" if leaf.startswith(_FROM_TEXTS) else leaf)


def times_in(name: str, kind: str, value: str) -> Iterator[tuple[str, str]]:
    """The times that DuckDB guessed from texts: for each its name and SQL for the list of its texts.

    `kind`: the SQL type, as guessed; `value`: SQL in the type `as_text(kind)`.

    >>> list(times_in("order", "STRUCT(paid DATE, id BIGINT)", '"order"'))
    [('order.paid', '["order".paid]')]
    """
    if kind.endswith("[]") or kind.startswith("MAP("):
        of_map = kind.removeprefix("MAP(VARCHAR, ").removesuffix(")")
        inner, values = (kind[:-2], value) if kind.endswith("[]") else (of_map, f"map_values({value})")
        for inner_name, texts in times_in(name, inner, "muntin_each"):
            yield inner_name, f"flatten(list_transform({values}, lambda muntin_each: {texts}))"
    elif kind.startswith("STRUCT("):
        for member, inner in members(kind):
            yield from times_in(f"{name}.{member}", inner, f"{value}.{member}")
    elif kind.startswith(_TIMES):
        yield name, f"[{value}]"
