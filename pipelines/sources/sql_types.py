"""Types of states: what SQL gives, what Delta can store, and that every batch has the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.errors import SourceError
from pipelines.sources.duckdb_session import described
from pipelines.sources.scan import quoted
from pipelines.states.columns import INSTANT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

# What DuckDB gives -> what every reader of Parquet and Delta understands.
_STORED = {
    "HUGEINT": "BIGINT",
    "UHUGEINT": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "UINTEGER": "BIGINT",
    "USMALLINT": "INTEGER",
    "UTINYINT": "SMALLINT",
    "TIMESTAMP": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_S": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_MS": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_NS": "TIMESTAMP WITH TIME ZONE",
    "TIME": "VARCHAR",
    "INTERVAL": "VARCHAR",
    "UUID": "VARCHAR",
    "JSON": "VARCHAR",
    '"NULL"': "INTEGER",
}
_MEMBER = re.compile(r'("(?:[^"]|"")*"|\w+) (.*)')
_WIDER = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE")


def stored_type(kind: str) -> str:
    """The SQL type a column is stored as.

    >>> stored_type("STRUCT(n UINTEGER, moments TIMESTAMP[])[]")
    'STRUCT(n BIGINT, moments TIMESTAMP WITH TIME ZONE[])[]'
    """
    if kind.endswith("[]"):
        return f"{stored_type(kind[:-2])}[]"
    if kind.startswith("STRUCT("):
        return struct([(name, stored_type(member)) for name, member in members(kind)])
    return "VARCHAR" if kind.startswith("ENUM") else _STORED.get(kind, kind)


NEEDS = {
    "number": 'a number; cast it, as "x::DOUBLE"',
    "order": 'values that have an order; ask for a text of them, as "x::VARCHAR", of intervals for seconds, as "epoch(x)"',
    "list": "a list",
    "difference": 'a number, a date or an instant; cast it, as "x::DOUBLE"',
    "condition": "a condition that is true or false",
}
_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|\"NULL\"")


def meets(kind: str, need: str) -> bool:
    """Whether a SQL type is what an aggregate needs.

    >>> meets("DECIMAL(9,2)", "number"), meets("VARCHAR", "number"), meets("BIGINT[]", "order")
    (True, False, False)
    """
    number = _NUMBERS.fullmatch(kind) is not None
    if need == "order":
        return kind != "INTERVAL" and not is_nested(kind)
    if need == "list":
        return kind.endswith("]")
    if need == "difference":
        return number or kind == "DATE" or kind.startswith("TIMESTAMP")
    return number or (need == "condition" and kind == "BOOLEAN")


def is_nested(kind: str) -> bool:
    """Whether a SQL type holds others: lists, structs, maps and unions.

    >>> is_nested("BIGINT[3]"), is_nested("DECIMAL(9,2)")
    (True, False)
    """
    return kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(", "UNION(", "TUPLE("))


def members(kind: str) -> list[tuple[str, str]]:
    """Names and types of a struct's members: its type cut at the commas that are its own."""
    found, depth, quotes = [""], 0, False
    for letter in kind[len("STRUCT(") : -1]:
        quotes ^= letter == '"'
        depth += 0 if quotes else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quotes:
            found.append("")
        else:
            found[-1] += letter
    matches = (_MEMBER.fullmatch(member.strip()) for member in found)
    return [(each[1], each[2]) for each in matches if each]


def lacking(kind: str, other: str) -> list[tuple[str, str]]:
    """The members of structs in a type that another type lacks, each with the type that is left without it.

    >>> lacking("STRUCT(a BIGINT, b BIGINT)[]", "STRUCT(a DOUBLE)[]")
    [('b', 'STRUCT(a BIGINT)[]')]
    """
    if kind.endswith("[]") and other.endswith("[]"):
        return [(name, f"{rest}[]") for name, rest in lacking(kind[:-2], other[:-2])]
    if not (kind.startswith("STRUCT(") and other.startswith("STRUCT(")):
        return []
    here, there, out = members(kind), {name.lower(): member for name, member in members(other)}, []
    for at, (name, member) in enumerate(here):
        if name.lower() not in there:
            out.append((name, struct([*here[:at], *here[at + 1 :]])))
            continue
        deeper = lacking(member, there[name.lower()])
        out += [(f"{name}.{inner}", struct([*here[:at], (name, rest), *here[at + 1 :]])) for inner, rest in deeper]
    return out


def struct(parts: Sequence[tuple[str, str]]) -> str:
    """The type of a struct with these members."""
    return "STRUCT(" + (", ".join(f"{name} {kind}" for name, kind in parts) or "muntin_none INTEGER") + ")"


def targets_of(natural: Mapping[str, str], targets: Mapping[str, str], paths: Sequence[str]) -> dict[str, str]:
    """Column -> SQL type to cast to, so that a batch's states have the types that earlier ones have.

    Raises:
        SourceError: a column's type in these files does not go into the type it has in the state.
    """
    out = {}
    for name, kind in natural.items():
        out[name] = targets.get(name, stored_type(kind))
        if not _fits(kind, out[name]):
            raise SourceError(
                f"{', '.join(paths)}: {name} is {kind} here and {out[name]} in earlier batches; "
                f'cast in the definition, as agg.sum("x::DOUBLE"), or say the column\'s type in sources.files(..., types={{"x": "DOUBLE"}})'
            )
    return out


def _fits(kind: str, target: str) -> bool:
    if kind in (target, '"NULL"') or stored_type(kind) == target:
        return True
    if kind.endswith("[]") and target.endswith("[]"):
        return _fits(kind[:-2], target[:-2])
    if kind.startswith("STRUCT(") and target.startswith("STRUCT("):
        here, there = members(kind), dict(members(target))
        return [name for name, _ in here] == list(there) and all(_fits(member, there[name]) for name, member in here)
    if kind in _WIDER and target in _WIDER:
        return _WIDER.index(kind) <= _WIDER.index(target)
    return kind in ("HUGEINT", *_WIDER[:4]) and (target in ("BIGINT", "DOUBLE") or target.startswith("DECIMAL"))


def stored(session: duckdb.DuckDBPyConnection, query: str, kinds: Mapping[str, str] | None = None) -> pa.Table:
    """What a query gives, in the types that states are stored with; `kinds`: column -> SQL type, where they are settled."""
    kinds = kinds or {name: stored_type(kind) for name, kind in described(session, query).items()}
    chosen = ", ".join(f"{quoted(name)}::{kind} AS {quoted(name)}" for name, kind in kinds.items())
    return storable(session.sql(f"SELECT {chosen} FROM ({query})").to_arrow_table())


def storable(table: pa.Table) -> pa.Table:
    """The table with Arrow types that Delta has: plain strings, timestamps in UTC microseconds."""
    return table.cast(pa.schema([field.with_type(_storable(field.type)) for field in table.schema]))


def _storable(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return INSTANT
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_storable(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_storable(field.type)) for field in kind])
    return kind
