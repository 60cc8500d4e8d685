"""The types that JSON lines are read with, so that a text of which the definition says what it is stays as it is written.

DuckDB takes texts for times and identifiers before it considers a type that a user gave, and writes them anew: 01-02-2024 may be any day.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.nested_types import is_nested, members, struct
from muntin.sources.reading.scan import literal, quoted, said_types, scan
from muntin.sources.sessions.duckdb_session import described

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from muntin.sources import Source

_TIMES = ("TIMESTAMP", "DATE")
_FROM_TEXTS = (*_TIMES, "TIME", "UUID")
_NUMBERED = re.compile(r"(.+)_\d+")  # how DuckDB names the second of two columns whose names differ in case only


def read_as(session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str]) -> dict[str, str]:
    """Name -> SQL type of all columns of JSON lines: as DuckDB tells them, but for texts to which the definition gives a type.

    Of other formats nothing, and nothing where names differ only in case.

    Raises:
        SourceError: the definition gives a type where names differ only in case, which DuckDB cannot read.
    """
    if source.format != "json":
        return {}
    told = described(session, f"FROM {scan(replace(source, types={}), paths)}")
    said = _spelled(session, {name: kind for name, kind in said_types(source).items() if name in told})
    ours = {name: _unguessed(kind, said.get(name)) for name, kind in told.items()}
    if hidden := _hidden(session, told, paths):
        if ours != told:
            raise SourceError(
                f"{', '.join(paths)}: column {hidden!r} has the name of another, but for small and capital letters; rename it"
            )
        return {}
    return ours


def _spelled(session: duckdb.DuckDBPyConnection, types: Mapping[str, str]) -> dict[str, str]:
    """The types as DuckDB spells them: TEXT is VARCHAR."""
    return described(session, "SELECT " + ", ".join(f"NULL::{kind} AS {quoted(name)}" for name, kind in types.items())) if types else {}


def _unguessed(told: str, said: str | None) -> str:
    """The type that a column is read as, before it is cast to the type that the definition says."""
    if said == "VARCHAR" and not is_nested(told):
        return "VARCHAR"
    return told if said is None else as_text(told)


def _hidden(session: duckdb.DuckDBPyConnection, told: Mapping[str, str], paths: Sequence[str]) -> str | None:
    """A column that DuckDB has named anew, so that it would not find it by its name."""
    small = {name.lower() for name in told}
    odd = [name for name in told if (found := _NUMBERED.fullmatch(name)) and found[1].lower() in small]
    if not odd:
        return None
    lines = f"read_ndjson_objects([{', '.join(map(literal, paths))}])"
    keys = {key for (key,) in session.execute(f"SELECT DISTINCT unnest(json_keys(json)) FROM {lines}").fetchall()}
    return next((name for name in odd if name not in keys), None)


def as_text(kind: str) -> str:
    """A type with a text wherever DuckDB may have guessed another type from texts.

    >>> as_text("STRUCT(id BIGINT, paid TIMESTAMP[])")
    'STRUCT(id BIGINT, paid VARCHAR[])'
    """
    if kind.endswith("[]"):
        return f"{as_text(kind[:-2])}[]"
    if kind.startswith("STRUCT("):
        return struct([(name, as_text(member)) for name, member in members(kind)])
    if kind.startswith("MAP("):
        return f"MAP(VARCHAR, {as_text(_values_of_map(kind))})"
    return "VARCHAR" if kind.startswith(_FROM_TEXTS) else kind


def times_in(name: str, kind: str, value: str) -> Iterator[tuple[str, str]]:
    """The times that DuckDB guessed from texts: for each its name and SQL for the list of its texts.

    Args:
        name: of the column, or of the member of a struct.
        kind: its SQL type, as guessed.
        value: SQL for the value, in the type `as_text(kind)`.

    >>> list(times_in("order", "STRUCT(paid DATE, id BIGINT)", '"order"'))
    [('order.paid', '["order".paid]')]
    """
    if kind.endswith("[]") or kind.startswith("MAP("):
        inner, values = (kind[:-2], value) if kind.endswith("[]") else (_values_of_map(kind), f"map_values({value})")
        for found, texts in times_in(name, inner, "muntin_each"):
            yield found, f"flatten(list_transform({values}, lambda muntin_each: {texts}))"
    elif kind.startswith("STRUCT("):
        for member, inner in members(kind):
            yield from times_in(f"{name}.{member}", inner, f"{value}.{member}")
    elif kind.startswith(_TIMES):
        yield name, f"[{value}]"


def _values_of_map(kind: str) -> str:
    return kind.removeprefix("MAP(VARCHAR, ").removesuffix(")")
